import Glibc

/// Files with holes: parts without data, which take no room on the disk and read as zeros.
public enum SparseFile {
    private static let seekData: Int32 = 3  // SEEK_DATA, which glibc declares for GNU sources only.

    /// The offset of the next data.
    ///
    /// - Parameters:
    ///   - descriptor: of a regular file. Its own offset changes.
    ///   - offset: in bytes, where the search begins.
    /// - Returns: `offset` or a later one; nil if only a hole follows. A file system without holes returns `offset`.
    public static func nextData(in descriptor: Int32, from offset: UInt64) -> UInt64? {
        let data = lseek(descriptor, off_t(clamping: offset), seekData)
        if data < 0, errno == ENXIO { return nil }
        return max(offset, UInt64(clamping: data))
    }
}
