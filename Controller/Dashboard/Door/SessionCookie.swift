import Crypto
import HTTPTypes

/// The cookie of a logged-in browser: random digits that identify its session (``Sessions``).
enum SessionCookie {
    static let name = "smartplug"

    /// Returns every value of the cookie with this name in Cookie headers (RFC 6265 section 4.2.1). There may be
    /// several: a cookie of a different path, or of another server on this host, can come first.
    static func values(in headers: [String], of name: String = Self.name) -> [String] {
        // Only the first 64 cookies are examined, because the server itself sets few.
        headers.flatMap { $0.split(separator: ";") }.prefix(64).compactMap { pair in
            let trimmed = pair.drop { $0 == " " }
            guard trimmed.hasPrefix(name + "=") else { return nil }
            return String(trimmed.dropFirst(name.count + 1).prefix(200))
        }
    }

    /// Returns the value of a Set-Cookie header; a nil value deletes the cookie.
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

/// A cookie of a browser that has logged in once. It remains after a logout. It grants no access, but the browser's
/// password attempts are counted separately. The cookie holds a nonce, and an authentication code of the nonce and the
/// password's id. Only this daemon can create the code. The cookie is useless after the password is removed. All
/// cookies of one password share a few slots, so that collecting them gives no additional attempts.
struct DeviceCookie {
    struct Device: Hashable {
        var cookie: String
        /// The id of the right password.
        var password: String
        /// The name of the device for ``PasswordGuard``.
        var name: String
    }

    static let name = "smartplug-device"
    /// The number of distinguished devices per password.
    static let slots = 8
    /// The lifetime in seconds. Browsers keep no cookie longer.
    private static let lifetime: Int64 = 400 * 86400
    private static let nonceLength = 16

    private let key: SymmetricKey

    /// - Parameter secret: 32 random bytes.
    init(secret: [UInt8]) {
        let code = HMAC<SHA256>.authenticationCode(for: Array(Self.name.utf8), using: SymmetricKey(data: secret))
        key = SymmetricKey(data: code)
    }

    /// Creates a cookie.
    ///
    /// - Parameter password: the id of the password.
    func make(for password: String) -> String {
        let nonce = HexadecimalText.random(bytes: Self.nonceLength)
        return nonce + "." + HexadecimalText.of(HMAC<SHA256>.authenticationCode(for: text(nonce, password), using: key))
    }

    /// Returns the device of a request; nil if it has no valid device cookie.
    ///
    /// - Parameter passwords: the ids of the valid passwords.
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
