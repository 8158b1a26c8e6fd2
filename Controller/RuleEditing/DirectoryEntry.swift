import Glibc
import LinuxSystem

/// The attributes of a directory entry. Those of a link are its own, and not those of the file to which it leads.
struct DirectoryEntry: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case regular, directory
        /// A link, a pipe, a socket or a device.
        case other
    }

    let kind: Kind
    /// The length in bytes.
    let bytes: Int
    /// The permissions, 0o777 at most.
    let permissions: UInt32

    /// Reads the attributes; nil if the entry is missing or its file system does not answer.
    init?(of path: String) {
        let answer = FileSystemTimeout.ofFiles.within(place: path) { () -> Self? in
            var status = stat()
            return lstat(path, &status) == 0 ? Self(status) : nil
        }
        guard let found = answer ?? nil else { return nil }
        self = found
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            default: .other
            }
        bytes = Int(status.st_size)
        permissions = status.st_mode & 0o777
    }
}
