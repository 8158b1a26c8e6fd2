import Glibc

/// What shows from outside that a file has changed: one that was written anew differs in at least one of these.
public struct FileStamp: Hashable, Sendable {
    public var bytes: Int64
    /// Since 1970: when its content, and when anything of it, was changed last.
    public var modifiedNanoseconds: Int64
    public var changedNanoseconds: Int64
    /// Which file of the file system it is: another one where it was replaced.
    public var inode: UInt64
    public var isDirectory: Bool

    public init(
        bytes: Int64, modifiedNanoseconds: Int64, changedNanoseconds: Int64, inode: UInt64, isDirectory: Bool = false
    ) {
        self.bytes = bytes
        self.modifiedNanoseconds = modifiedNanoseconds
        self.changedNanoseconds = changedNanoseconds
        self.inode = inode
        self.isDirectory = isDirectory
    }

    /// Of the file that a link leads to. Nil where there is none, or nobody may know.
    public init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(
            bytes: Int64(status.st_size), modifiedNanoseconds: Self.nanoseconds(status.st_mtim),
            changedNanoseconds: Self.nanoseconds(status.st_ctim), inode: UInt64(status.st_ino),
            isDirectory: status.st_mode & S_IFMT == S_IFDIR)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The names in a directory but for `.` and `..`, in order.
    ///
    /// - Parameter limit: more than these are left out, whichever they are.
    /// - Returns: nil where it cannot be read.
    public static func names(in directory: String, limit: Int) -> [String]? {
        guard let open = opendir(directory) else { return nil }
        defer { closedir(open) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(open) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
