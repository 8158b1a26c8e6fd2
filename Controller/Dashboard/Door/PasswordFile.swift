import CPasswordHash
public import DurableFiles
import LinuxClocks
public import PlugModel

/// The file with the hashes of the dashboard's passwords, which only its owner may read.
public struct PasswordFile: Sendable {
    /// Characters. Guesses are slowed down, and a file that got into other hands is not.
    public static let shortest = 10
    /// Bytes; crypt(3) takes 512.
    public static let longest = 256
    /// Passwords. A guess is hashed once for each: more would let those who guess keep a core busy.
    public static let most = 8
    /// A line has a hash of about a hundred bytes, and a name.
    private static let fileLimit = most * 512

    public let path: String
    private let files: FileStore

    public init(_ path: String, files: FileStore = FileStore()) {
        self.path = path
        self.files = files
    }

    /// Where the file is unless somebody says otherwise: with a service's state, or with what the user sets up.
    public static var usualPath: String {
        (ServiceDirectories.state ?? UserDirectories.configuration + "/smartplug") + "/dashboard-password"
    }

    /// What is wrong with a password, in words; nil for a good one.
    public static func fault(of password: String) -> String? {
        if password.count < shortest { return "a password has at least \(shortest) characters" }
        if password.utf8.count > longest { return "a password has at most \(longest) bytes" }
        return password.utf8.contains { $0 < 32 } ? "a password has no control characters" : nil
    }

    /// Keeps the password's hash, in the place of the one of that name; those that have ended go. It takes some 50 ms for each password that there is.
    ///
    /// - Parameters:
    ///   - password: one without a fault.
    ///   - name: one without a fault.
    ///   - until: seconds since 1970 at which it ends; not of an owner, and always of a guest.
    /// - Throws: where it would leave no owner, is one too many, or is another's password already.
    public func set(
        _ password: String, named name: String = Role.owner.rawValue, role: Role = .owner, until: Int64? = nil
    ) throws(DashboardFault) {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000_000
        let others = try known().filter { $0.name != name && !$0.hasEnded(now: now) }
        guard role == .owner || others.contains(where: { $0.role == .owner }) else {
            throw DashboardFault(
                "there would be no owner's password\nhint: plugctl daemon password sets that one first")
        }
        guard others.count < Self.most else {
            throw DashboardFault(
                "there are \(Self.most) passwords already\nhint: plugctl daemon password --remove NAME takes one away")
        }
        if let same = others.first(where: { Self.matches(password, $0.hash) }) {
            throw DashboardFault(
                "this is the password of \(same.name) already\nhint: passwords tell apart who comes: choose another")
        }
        var hash = [CChar](repeating: 0, count: 512)
        guard password_hash(password, &hash, hash.count) == 0 else {
            preconditionFailure("the system's own way of hashing passwords is one that it has")
        }
        let text = String(decoding: hash.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try write(others + [DashboardPassword(name: name, role: role, until: until, hash: text)])
    }

    /// Takes away the one of this name.
    ///
    /// - Throws: where there is none, or where others would be left without an owner.
    public func remove(_ name: String) throws(DashboardFault) {
        let all = try known()
        let left = all.filter { $0.name != name }
        guard left.count < all.count else {
            throw DashboardFault(
                "no password is called \(name)\nhint: plugctl daemon password --list shows those that there are")
        }
        guard left.isEmpty || left.contains(where: { $0.role == .owner }) else {
            throw DashboardFault(
                "\(name)'s is the last owner's password, and there are others\n"
                    + "hint: plugctl daemon password --remove, without a name, takes all away")
        }
        guard !left.isEmpty else {
            _ = try removeAll()
            return
        }
        try write(left)
    }

    /// False where there was none.
    public func removeAll() throws(DashboardFault) -> Bool {
        do throws(FileError) {
            guard try files.readSecretIfPresent(path, limit: Self.fileLimit) != nil else { return false }
            try files.removeIfPresent(path)
            return true
        } catch {
            throw DashboardFault(error)
        }
    }

    /// Owners first; empty where there is no password.
    ///
    /// - Throws: where there are some that cannot be read, or that others could have read.
    public func passwords() throws(FileError) -> [DashboardPassword] {
        guard let bytes = try files.readSecretIfPresent(path, limit: Self.fileLimit) else { return [] }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let passwords = lines.compactMap { DashboardPassword(line: $0) }
        // To leave one out would be to say that there is none.
        guard !passwords.isEmpty, passwords.count == lines.count, passwords.count <= Self.most else {
            throw FileError(.read, path, .damaged)
        }
        return passwords
    }

    /// Takes some 50 ms.
    static func matches(_ password: String, _ hash: String) -> Bool {
        guard password.utf8.count <= longest, !password.utf8.contains(0) else { return false }
        return password_matches(password, hash) == 1
    }

    private func known() throws(DashboardFault) -> [DashboardPassword] {
        do throws(FileError) { return try passwords() } catch { throw DashboardFault(error) }
    }

    /// An owner's stands first: a program that knows of no roles takes the first hash for the only one.
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
