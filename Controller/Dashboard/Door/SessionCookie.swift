import Crypto
import HTTPTypes

/// What a browser holds that was logged in: digits by which its session is found (``Sessions``), and nothing else.
enum SessionCookie {
    static let name = "smartplug"

    /// The value of our cookie in Cookie headers (RFC 6265 section 4.2.1). Of several every one: one of another path, or of another
    /// server of this host, may come first.
    static func values(in headers: [String], of name: String = Self.name) -> [String] {
        // More are none of ours.
        headers.flatMap { $0.split(separator: ";") }.prefix(64).compactMap { pair in
            let trimmed = pair.drop { $0 == " " }
            guard trimmed.hasPrefix(name + "=") else { return nil }
            return String(trimmed.dropFirst(name.count + 1).prefix(200))
        }
    }

    /// What a Set-Cookie header says; nil for the value takes it away.
    static func header(_ value: String?, isSecure: Bool) -> String {
        header(name, value ?? "", lifetime: value == nil ? 0 : Sessions.lifetime, isSecure: isSecure)
    }

    fileprivate static func header(_ name: String, _ value: String, lifetime: Int64, isSecure: Bool) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(lifetime); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    fileprivate static func bytes(_ hex: Substring) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count == 64 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// What a browser keeps on which somebody was right once, also when nobody is logged in there: it opens nothing, but its tries are
/// counted by themselves. A nonce, and a code over it that only we can make.
struct DeviceCookie {
    static let name = "smartplug-device"
    /// Seconds; browsers keep no cookie for longer.
    private static let lifetime: Int64 = 400 * 86400
    private static let nonceLength = 16

    private let key: SymmetricKey

    /// - Parameter secret: 32 random bytes.
    init(secret: [UInt8]) {
        let code = HMAC<SHA256>.authenticationCode(for: Array(Self.name.utf8), using: SymmetricKey(data: secret))
        key = SymmetricKey(data: code)
    }

    func make() -> String {
        let nonce = HexadecimalText.random(bytes: Self.nonceLength)
        return nonce + "." + HexadecimalText.of(code(of: nonce))
    }

    /// The device's cookie among those of a request; nil where it has none of ours.
    func kept(in headers: HTTPFields) -> String? {
        SessionCookie.values(in: headers[values: .cookie], of: Self.name).first { cookie in
            let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 2 * Self.nonceLength,
                let code = SessionCookie.bytes(parts[1])
            else { return false }
            return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(parts[0].utf8), using: key)
        }
    }

    static func header(_ value: String, isSecure: Bool) -> String {
        SessionCookie.header(name, value, lifetime: lifetime, isSecure: isSecure)
    }

    private func code(of nonce: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(nonce.utf8), using: key)
    }
}
