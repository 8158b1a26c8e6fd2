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

/// A cookie of a browser on which a password was right once, also when no user is logged in there: it opens nothing, but the browser's
/// tries are counted apart. It holds a nonce and a code over the nonce and the id of the password, which only this daemon can make. So it is
/// worth nothing when the password is gone. All cookies of one password share a few slots, so that a collection of them buys no tries.
struct DeviceCookie {
    struct Device: Hashable {
        var cookie: String
        /// The id of the password that was right.
        var password: String
        /// Names the device to ``PasswordGuard``.
        var name: String
    }

    static let name = "smartplug-device"
    /// Devices of one password that are told apart.
    static let slots = 8
    /// Seconds; browsers keep no cookie for longer.
    private static let lifetime: Int64 = 400 * 86400
    private static let nonceLength = 16

    private let key: SymmetricKey

    /// - Parameter secret: 32 random bytes.
    init(secret: [UInt8]) {
        let code = HMAC<SHA256>.authenticationCode(for: Array(Self.name.utf8), using: SymmetricKey(data: secret))
        key = SymmetricKey(data: code)
    }

    /// - Parameter password: its id.
    func make(for password: String) -> String {
        let nonce = HexadecimalText.random(bytes: Self.nonceLength)
        return nonce + "." + HexadecimalText.of(HMAC<SHA256>.authenticationCode(for: text(nonce, password), using: key))
    }

    /// The device's cookie among those of a request; nil where it has none of ours.
    ///
    /// - Parameter passwords: the ids of those that are valid.
    func kept(in headers: HTTPFields, among passwords: [String]) -> Device? {
        for cookie in SessionCookie.values(in: headers[values: .cookie], of: Self.name) {
            let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 2 * Self.nonceLength,
                let code = SessionCookie.bytes(parts[1]), let last = parts[0].last?.hexDigitValue
            else { continue }
            let password = passwords.first { password in
                HMAC<SHA256>.isValidAuthenticationCode(
                    code, authenticating: text(String(parts[0]), password), using: key)
            }
            guard let password else { continue }
            return Device(cookie: cookie, password: password, name: "\(password) \(last % Self.slots)")
        }
        return nil
    }

    static func header(_ value: String, isSecure: Bool) -> String {
        SessionCookie.header(name, value, lifetime: lifetime, isSecure: isSecure)
    }

    private func text(_ nonce: String, _ password: String) -> [UInt8] { Array("\(nonce) \(password)".utf8) }
}
