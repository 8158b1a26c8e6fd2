import Glibc

/// Reads sparse files: files with holes, which take no disk space and read as zeros.
public enum SparseFile {
    private static let seekData: Int32 = 3  // SEEK_DATA, which glibc declares for GNU sources only.

    /// Returns the offset of the next data.
    ///
    /// - Parameters:
    ///   - descriptor: a descriptor of a regular file. Its file offset changes.
    ///   - offset: the offset in bytes at which the search begins.
    /// - Returns: `offset` or a later one; nil if only a hole or the end of the file follows. If the file system does
    ///   not support the search, the result is `offset`.
    public static func nextData(in descriptor: Int32, from offset: UInt64) -> UInt64? {
        let data = lseek(descriptor, off_t(clamping: offset), seekData)
        if data < 0, errno == ENXIO { return nil }
        return max(offset, UInt64(clamping: data))
    }
}
