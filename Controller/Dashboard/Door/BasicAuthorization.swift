import Foundation

/// Parses the password of an Authorization header (RFC 7617), as Prometheus and scripts send it. The user name is
/// ignored; the password identifies the user.
enum BasicAuthorization {
    /// Returns the password; nil if the header is missing, repeated or not valid.
    ///
    /// - Parameter headers: every Authorization header.
    static func password(in headers: [String]) -> String? {
        guard headers.count == 1 else { return nil }
        let parts = headers[0].split(separator: " ", maxSplits: 1)
        // Base64 needs four bytes per three bytes of the password; the limit leaves room for a user name.
        guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024,
            let bytes = Data(base64Encoded: String(parts[1])),
            // The colon is searched in bytes: a password that begins with a combining mark would merge with the colon
            // into one character.
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return String(bytes: bytes[bytes.index(after: colon)...], encoding: .utf8)
    }
}
