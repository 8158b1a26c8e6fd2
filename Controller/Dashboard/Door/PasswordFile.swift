import CPasswordHash
public import LinuxSystem
public import PlugModel

/// The file with the hashes of the dashboard's passwords. Only its owner can read it.
public struct PasswordFile: Sendable {
    /// The minimum length in characters. `PasswordGuard` slows down guesses at the dashboard, but not guesses at a
    /// stolen file.
    public static let shortest = 10
    /// The maximum length in bytes. crypt(3) accepts 512.
    public static let longest = 256
    /// The maximum number of passwords. Each guess is hashed once per password, so more would keep a core busy.
    public static let most = 8
    /// The maximum size of the file in bytes: 512 per password. A line has a hash of about 100 bytes, and a name.
    private static let fileLimit = most * 512

    /// The path of the file.
    public let path: String
    private let files: FileStore

    /// Creates a reference to the file; it is read and written on use.
    public init(_ path: String, files: FileStore = FileStore()) {
        self.path = path
        self.files = files
    }

    /// The default path: in the service's state directory, else in the user's configuration directory.
    public static var usualPath: String {
        (ServiceDirectories.state ?? UserDirectories.configuration + "/smartplug") + "/dashboard-password"
    }

    /// Returns the error in a password as text; nil for a valid one.
    public static func fault(of password: String) -> String? {
        if password.count < shortest { return "a password must have at least \(shortest) characters" }
        if password.utf8.count > longest { return "a password must have at most \(longest) bytes" }
        return password.utf8.contains { $0 < 32 } ? "a password must not contain control characters" : nil
    }

    /// Stores the hash of a password. It replaces the password with the same name, and expired passwords are removed.
    /// The call takes about 50 ms per stored password.
    ///
    /// - Parameters:
    ///   - password: a password without a fault.
    ///   - name: a name without a fault.
    ///   - role: the rights of the user.
    ///   - until: the time at which the password expires, in seconds since 1970; nil for an owner, required for a
    ///     guest.
    /// - Throws: `DashboardFault` if no owner would remain, there are too many passwords, another name has the
    ///   password, or the file cannot be read or written.
    public func set(
        _ password: String, named name: String = Role.owner.rawValue, role: Role = .owner, until: Int64? = nil
    ) throws(DashboardFault) {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000_000
        let others = try known().filter { $0.name != name && !$0.hasEnded(now: now) }
        guard role == .owner || others.contains(where: { $0.role == .owner }) else {
            throw DashboardFault(
                "no other password has the owner role\nhint: first set one with plugctl daemon password NAME")
        }
        guard others.count < Self.most else {
            throw DashboardFault(
                "there are already \(Self.most) passwords\nhint: remove one with plugctl daemon password --remove NAME")
        }
        if let same = others.first(where: { Self.matches(password, $0.hash) }) {
            throw DashboardFault(
                "\(same.name) already has this password\nhint: choose a different one; passwords identify users")
        }
        var hash = [CChar](repeating: 0, count: 512)
        guard password_hash(password, &hash, hash.count) == 0 else {
            preconditionFailure("crypt(3) cannot hash a password with its default method")
        }
        let text = String(decoding: hash.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try write(others + [DashboardPassword(name: name, role: role, until: until, hash: text)])
    }

    /// Removes the password with this name.
    ///
    /// - Throws: `DashboardFault` if it does not exist, or if other passwords would remain without an owner.
    public func remove(_ name: String) throws(DashboardFault) {
        let all = try known()
        let left = all.filter { $0.name != name }
        guard left.count < all.count else {
            throw DashboardFault(
                "unknown password \(name)\nhint: plugctl daemon password --list lists the passwords")
        }
        guard left.isEmpty || left.contains(where: { $0.role == .owner }) else {
            throw DashboardFault(
                "\(name) is the last password with the owner role, and other passwords depend on it\n"
                    + "hint: plugctl daemon password --remove without a name removes all")
        }
        guard !left.isEmpty else {
            _ = try removeAll()
            return
        }
        try write(left)
    }

    /// Removes all passwords. Returns false if no password existed.
    public func removeAll() throws(DashboardFault) -> Bool {
        do throws(FileError) {
            guard try files.readSecretIfPresent(path, limit: Self.fileLimit) != nil else { return false }
            try files.removeIfPresent(path)
            return true
        } catch {
            throw DashboardFault(error)
        }
    }

    /// Reads the passwords, owners first; empty if the file does not exist.
    ///
    /// - Throws: `FileError` if the file cannot be read, is damaged, or is readable by other users.
    public func passwords() throws(FileError) -> [DashboardPassword] {
        guard let bytes = try files.readSecretIfPresent(path, limit: Self.fileLimit) else { return [] }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let passwords = lines.compactMap { DashboardPassword(line: $0) }
        // A skipped line could leave no password, which would open the dashboard. So any invalid line is an error.
        guard !passwords.isEmpty, passwords.count == lines.count, passwords.count <= Self.most else {
            throw FileError(.read, path, .damaged)
        }
        return passwords
    }

    /// Compares a password with a hash. It takes about 50 ms.
    static func matches(_ password: String, _ hash: String) -> Bool {
        guard password.utf8.count <= longest, !password.utf8.contains(0) else { return false }
        return password_matches(password, hash) == 1
    }

    private func known() throws(DashboardFault) -> [DashboardPassword] {
        do throws(FileError) { return try passwords() } catch { throw DashboardFault(error) }
    }

    /// Writes the file with an owner first: older versions without roles use only the first hash.
    private func write(_ passwords: [DashboardPassword]) throws(DashboardFault) {
        let owners = passwords.filter { $0.role == .owner }
        let lines = (owners + passwords.filter { $0.role != .owner }).map { $0.line + "\n" }
        do throws(FileError) {
            try files.makeDirectories(directory)
            try files.replaceSecret(path, with: Array(lines.joined().utf8))
        } catch {
            throw DashboardFault(error)
        }
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
