import Foundation

/// A password in an Authorization header (RFC 7617): what Prometheus and scripts send. Whatever the user is called, it is the
/// house's one password.
enum BasicAuthorization {
    /// - Parameter headers: every Authorization header.
    static func password(in headers: [String]) -> String? {
        guard headers.count == 1 else { return nil }
        let parts = headers[0].split(separator: " ", maxSplits: 1)
        // Four bytes of base 64 for three of a password that is not too long, with some room for a user's name.
        guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024,
            let bytes = Data(base64Encoded: String(parts[1])),
            // Of the bytes: a password that begins with a combining mark would hide it among the characters.
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return String(bytes: bytes[bytes.index(after: colon)...], encoding: .utf8)
    }
}
