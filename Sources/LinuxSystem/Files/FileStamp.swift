import Glibc

/// The attributes that reveal a change of a file without reading it. Rewriting a file changes at least one attribute.
public struct FileStamp: Hashable, Sendable {
    /// The length in bytes.
    public var bytes: Int64
    /// The time of the last change of the content, in nanoseconds since 1970.
    public var modifiedNanoseconds: Int64
    /// The time of the last change of the inode, in nanoseconds since 1970.
    public var changedNanoseconds: Int64
    /// The inode number; a replaced file has a different one.
    public var inode: UInt64
    /// True for a directory.
    public var isDirectory: Bool

    /// Creates a stamp.
    public init(
        bytes: Int64, modifiedNanoseconds: Int64, changedNanoseconds: Int64, inode: UInt64, isDirectory: Bool = false
    ) {
        self.bytes = bytes
        self.modifiedNanoseconds = modifiedNanoseconds
        self.changedNanoseconds = changedNanoseconds
        self.inode = inode
        self.isDirectory = isDirectory
    }

    /// Reads the attributes of the file to which the path leads, through links. Returns nil if it is missing or not
    /// accessible.
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

    /// Returns the names in a directory without `.` and `..`, sorted.
    ///
    /// - Parameter limit: the maximum number of names that are read, in the order of the file system.
    /// - Returns: nil if the directory cannot be read.
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
