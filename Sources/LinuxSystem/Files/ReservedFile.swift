import Glibc

/// A file whose disk space is allocated in advance, so that it can be written even when the disk is full. It holds one
/// value or none.
public final class ReservedFile: Sendable {
    private let path: String
    private let size: Int
    private let descriptor: Int32

    /// The size of the header in bytes: 8 for the length of the value, and 8 for the bitwise complement of the length,
    /// which reveals a partially written header.
    private static let header = 16

    /// Opens the file and allocates its space, if an earlier process has not done so.
    ///
    /// - Parameters:
    ///   - size: the maximum size of the value in bytes.
    ///   - mode: the permissions of a new file, before the process's file mode creation mask is applied.
    /// - Throws: ``FileError`` if there is not enough space, or if the path is not a regular file.
    public init(_ path: String, size: Int, mode: UInt32 = 0o600) throws(FileError) {
        (self.path, self.size) = (path, size)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Glibc.open(path, flags, mode)
        guard descriptor >= 0 else { throw FileError(.open, path, SystemError(errno)) }
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(.open, path, SystemError(errno)) }
        if let kind = IrregularFile(mode: status.st_mode) { throw FileError(.open, path, .notRegular(kind)) }
        let error = posix_fallocate(descriptor, 0, off_t(Self.header + size))
        guard error == 0 else { throw FileError(.write, path, SystemError(error)) }
    }

    deinit { close(descriptor) }

    /// Returns the value; nil if the file holds none or its header is not valid.
    public func read() throws(FileError) -> [UInt8]? {
        let header = try bytes(Self.header, at: 0)
        let (count, inverted) = (Self.number(header[..<8]), Self.number(header[8...]))
        guard count == ~inverted, (1...UInt64(size)).contains(count) else { return nil }
        return try bytes(Int(count), at: Self.header)
    }

    /// Replaces the value. Returns when the new value is durable. After a power cut during the call, the file contains
    /// the old value, the new one, or a mixture, so values need a checksum.
    ///
    /// - Parameter new: at most as many bytes as the size of ``init(_:size:mode:)``.
    public func write(_ new: [UInt8]) throws(FileError) {
        guard new.count <= size else { throw FileError(.write, path, .tooLarge(limit: size)) }
        try put(new, at: Self.header)
        try put(Self.bytes(UInt64(new.count)) + Self.bytes(~UInt64(new.count)), at: 0)
        guard fdatasync(descriptor) == 0 else { throw FileError(.synchronize, path, SystemError(errno)) }
    }

    /// Removes the value. It may reappear after a power cut, because this method does not wait for the storage.
    public func clear() throws(FileError) { try put([UInt8](repeating: 0, count: Self.header), at: 0) }

    private func put(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                pwrite(descriptor, all.baseAddress! + written, all.count - written, off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(.write, path, count < 0 ? SystemError(errno) : .inputOutput) }
            written += count
        }
    }

    private func bytes(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        var found = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let more = found.withUnsafeMutableBytes { all in
                pread(descriptor, all.baseAddress! + read, count - read, off_t(offset + read))
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { throw FileError(.read, path, more < 0 ? SystemError(errno) : .inputOutput) }
            read += more
        }
        return found
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
