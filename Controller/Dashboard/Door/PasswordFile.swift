import CPasswordHash
public import DurableFiles

/// The file with the hash of the dashboard's password, which only its owner may read.
public struct PasswordFile: Sendable {
    /// Characters. Guesses are slowed down, and a file that got into other hands is not.
    public static let shortest = 10
    /// Bytes; crypt(3) takes 512.
    public static let longest = 256
    /// A hash has about a hundred bytes.
    private static let fileLimit = 1024

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

    /// Keeps the password's hash, in the place of the one before. It takes some 50 ms.
    ///
    /// - Parameter password: one without a fault.
    public func set(_ password: String) throws(FileError) {
        var hash = [CChar](repeating: 0, count: 512)
        guard password_hash(password, &hash, hash.count) == 0 else {
            preconditionFailure("the system's own way of hashing passwords is one that it has")
        }
        let text = hash.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        try files.makeDirectories(directory)
        try files.replaceSecret(path, with: text + [UInt8(ascii: "\n")])
    }

    /// False where there was none.
    public func remove() throws(FileError) -> Bool {
        guard try files.readSecretIfPresent(path, limit: Self.fileLimit) != nil else { return false }
        try files.removeIfPresent(path)
        return true
    }

    /// Nil where there is no password.
    ///
    /// - Throws: where there is one that cannot be read, or that others could have read.
    public func hash() throws(FileError) -> String? {
        guard let bytes = try files.readSecretIfPresent(path, limit: Self.fileLimit) else { return nil }
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }

    /// Takes some 50 ms.
    static func matches(_ password: String, _ hash: String) -> Bool {
        guard password.utf8.count <= longest, !password.utf8.contains(0) else { return false }
        return password_matches(password, hash) == 1
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
