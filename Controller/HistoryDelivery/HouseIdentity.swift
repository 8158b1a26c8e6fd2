import LinuxSystem

/// The identity of a house in a database, independent of its name: 16 random bytes in a file of the daemon's directory.
/// A daemon that moves to another machine needs this file there.
struct HouseIdentity: Hashable, Sendable {
    /// The identity in the format of PostgreSQL's `uuid`.
    let text: String

    private static let name = "house-identity"

    /// The file is not valid. A new identity would be rejected everywhere, so the file is not replaced.
    struct Damaged: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) does not contain a house identity" }
    }

    /// Reads the identity, or creates it if the file does not exist.
    ///
    /// - Throws: `FileError`, or ``Damaged``.
    init(in directory: String) throws {
        let (files, path) = (FileStore(), directory + "/" + Self.name)
        try files.makeDirectories(directory)
        if let bytes = try files.readIfPresent(path, limit: 128) {
            guard let known = Self.identity(String(decoding: bytes, as: UTF8.self)) else { throw Damaged(path: path) }
            text = known
            return
        }
        text = Self.uuid((0..<16).map { _ in UInt8.random(in: 0...255) })
        try files.replace(path, with: Array((text + "\n").utf8), mode: 0o600)
    }

    /// Returns the identity, or nil if the text is not valid.
    private static func identity(_ text: String) -> String? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        let rest = text.utf8.filter { !Character(Unicode.Scalar($0)).isHexDigit && $0 != 0x2D && $0 != 0x0A }
        guard digits.count == 32, rest.isEmpty else { return nil }
        return uuid(stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Formats bytes as PostgreSQL's `uuid`.
    ///
    /// - Parameter bytes: 16 bytes.
    static func uuid(_ bytes: [UInt8]) -> String {
        let digits = bytes.flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) }.joined()
        var (rest, parts) = (digits[...], [Substring]())
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }
}
