import Crypto
public import PlugModel

/// A password of the dashboard: its name, role and expiry. Only the password's hash is stored.
public struct DashboardPassword: Hashable, Sendable {
    /// The maximum number of characters of a name.
    static let longestName = 40

    /// The name for users, also shown for sessions: "owner", "Anna".
    public let name: String
    /// The rights of the password's user.
    public let role: Role
    /// The time at which the password expires, in seconds since 1970; nil if it does not expire.
    public let until: Int64?
    let hash: String
    /// An id that changes whenever the password is set again, so that sessions of the previous password are recognized.
    /// It is a digest of the salted hash and reveals nothing about the password.
    let id: String

    init(name: String, role: Role, until: Int64?, hash: String) {
        self.name = name
        self.role = role
        self.until = until
        self.hash = hash
        id = HexadecimalText.of(SHA256.hash(data: Array(hash.utf8)).prefix(16))
    }

    /// Returns true if the password has expired.
    ///
    /// - Parameter now: seconds since 1970.
    public func hasEnded(now: Int64) -> Bool { until.map { $0 <= now } ?? false }

    /// Returns the error in a name as text; nil for a valid name.
    public static func fault(ofName name: String) -> String? {
        guard !name.isEmpty, name.count <= longestName, name.utf8.count <= 4 * longestName else {
            return "a password's name must have 1 to \(longestName) characters"
        }
        let isPlain = name.unicodeScalars.allSatisfy { !$0.properties.isDefaultIgnorableCodePoint && !isControl($0) }
        guard isPlain, name.first != " ", name.last != " " else {
            return "a password's name must not contain control characters or begin or end with a space"
        }
        return name.hasPrefix("-") ? "a password's name must not begin with a hyphen" : nil
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

/// One line of the file: hash, role, expiry and name, separated by tabs. A line with only a hash is an owner's password
/// that an older version stored.
extension DashboardPassword {
    init?(line: some Collection<UInt8>) {
        // The line is split in bytes: a name that begins with a combining mark would merge with the tab into one
        // character.
        let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let hash = parts.first, !hash.isEmpty, hash.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        if parts.count == 1 {
            self.init(name: Role.owner.rawValue, role: .owner, until: nil, hash: hash)
            return
        }
        guard parts.count == 4, let role = Role(rawValue: parts[1]), Self.fault(ofName: parts[3]) == nil else {
            return nil
        }
        let until = Int64(parts[2])
        guard until != nil || parts[2] == "-", role != .owner || until == nil, role != .guest || until != nil else {
            return nil
        }
        self.init(name: parts[3], role: role, until: until, hash: hash)
    }

    var line: String { "\(hash)\t\(role.rawValue)\t\(until.map(String.init) ?? "-")\t\(name)" }
}
