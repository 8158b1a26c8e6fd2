import Crypto
public import PlugModel

/// A password of the dashboard: whose it is, what it lets them do, and until when. The password itself is nowhere kept.
public struct DashboardPassword: Hashable, Sendable {
    /// Characters of a name.
    static let longestName = 40

    /// What a person calls it, and sessions with it: "owner", "Anna".
    public let name: String
    public let role: Role
    /// Seconds since 1970 at which it ends; nil for never.
    public let until: Int64?
    let hash: String
    /// Another one whenever the password is set anew, so that what was begun with the one before is told from it. Says nothing of the
    /// password: it is a digest of its salted hash.
    let id: String

    init(name: String, role: Role, until: Int64?, hash: String) {
        self.name = name
        self.role = role
        self.until = until
        self.hash = hash
        id = HexadecimalText.of(SHA256.hash(data: Array(hash.utf8)).prefix(16))
    }

    /// - Parameter now: seconds since 1970.
    public func hasEnded(now: Int64) -> Bool { until.map { $0 <= now } ?? false }

    /// What is wrong with a name, in words; nil for a good one.
    public static func fault(ofName name: String) -> String? {
        guard !name.isEmpty, name.count <= longestName, name.utf8.count <= 4 * longestName else {
            return "a password's name has 1 to \(longestName) characters"
        }
        let isPlain = name.unicodeScalars.allSatisfy { !$0.properties.isDefaultIgnorableCodePoint && !isControl($0) }
        guard isPlain, name.first != " ", name.last != " " else {
            return "a password's name has no control characters, and no blank at its ends"
        }
        return name.hasPrefix("-") ? "a password's name does not begin with a hyphen" : nil
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

/// One line of the file: hash, role, end and name, with tabs between them. A line that is a hash alone is the owner's: before there were
/// roles it was the only one.
extension DashboardPassword {
    init?(line: some Collection<UInt8>) {
        // Bytes: a name that begins with a combining mark would hide the tab among the characters.
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
