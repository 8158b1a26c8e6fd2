import Glibc

/// Writes results to a place that the user named: a file, or a stream to another program.
extension FileStore {
    /// The maximum number of links that are followed; the kernel has the same limit.
    private static let linkLimit = 40

    /// Writes a result to a path. Links are followed. A regular file is replaced atomically, or created if it is
    /// missing. The bytes are written to a pipe, a terminal or another character device without replacing it. If the
    /// path names a descriptor of this process, such as `/dev/stdout`, they are written to that descriptor.
    ///
    /// - Parameter mode: the permissions of a new or replaced file, before the process's file mode creation mask is
    ///   applied.
    /// - Throws: ``FileError`` with ``FileError/Reason/notRegular(_:)`` for a block device or a socket, and with
    ///   ``FileError/Reason/noReader`` if no program opens the pipe for reading in time.
    public func writeOutput(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws(FileError) {
        if let descriptor = Self.ownDescriptor(path) { return try writeAll(bytes, to: descriptor, path: path) }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = SystemError(errno)
            guard error == .notFound else { throw FileError(.open, path, .system(error)) }
            return try replace(Self.target(of: path), with: bytes, mode: mode)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: try replace(Self.target(of: path), with: bytes, mode: mode)
        case S_IFDIR: throw FileError(.write, path, .system(SystemError(EISDIR)))
        case S_IFIFO, S_IFCHR: try writeStream(path, bytes)
        default: throw FileError(.write, path, .notRegular(IrregularFile(mode: status.st_mode) ?? .device))
        }
    }

    private func writeStream(_ path: String, _ bytes: [UInt8]) throws(FileError) {
        let opened = patience.within(place: path) { () -> Result<Int32, SystemError> in
            while true {
                let descriptor = Glibc.open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
                if descriptor >= 0 { return .success(descriptor) }
                guard errno == EINTR else { return .failure(SystemError(errno)) }
            }
        }
        guard let opened else { throw FileError(.open, path, .noReader) }
        let descriptor: Int32
        do throws(SystemError) { descriptor = try opened.get() } catch { throw FileError(.open, path, error) }
        defer { calls.close(descriptor) }
        try writeAll(bytes, to: descriptor, path: path)
    }

    /// Returns the number of the descriptor that the path names; nil for any other path. Such a path must not be opened
    /// again, because the new descriptor would begin at the start of the file.
    private static func ownDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return STDIN_FILENO
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
                return Int32(path.dropFirst(folder.count))
            }
            return nil
        }
    }

    /// Returns the path to which the links lead. A file need not exist there.
    private static func target(of path: String) -> String {
        var path = path
        for _ in 0..<linkLimit {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let length = readlink(path, &buffer, buffer.count)
            guard length > 0 else { break }
            let target = String(decoding: buffer[..<length], as: UTF8.self)
            path = target.hasPrefix("/") ? target : parentDirectory(of: path) + "/" + target
        }
        return path
    }
}
