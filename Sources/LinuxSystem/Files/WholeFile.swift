import Glibc

extension FileStore {
    /// Returns the content of a regular file. A pipe or a device is refused, because it may have no end or no writer.
    ///
    /// - Parameter limit: the maximum size of the file in bytes, so that a wrong path, for example to a disk image,
    ///   does not fill the memory.
    /// - Throws: ``FileError`` with ``FileError/Reason/tooLarge(limit:)`` beyond the limit, with
    ///   ``FileError/Reason/notRegular(_:)``, and with ``FileError/Reason/late`` if the file system does not answer in
    ///   time.
    public func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        try inTime(path, limit) { () throws(FileError) in
            let descriptor = try open(path, .reading)
            defer { calls.close(descriptor) }
            let access = try attempt(.read, path) { () throws(SystemError) in try calls.access(descriptor) }
            if let kind = IrregularFile(mode: access.mode) { throw FileError(.read, path, .notRegular(kind)) }
            return try readAll(of: descriptor, path, limit: limit)
        }
    }

    /// Runs the body within a time limit. Fails at once if an earlier call for the directory of `path` is overdue.
    ///
    /// - Parameter bytes: the maximum number of bytes that the body reads.
    func inTime<Value: Sendable>(
        _ path: String, _ bytes: Int, _ body: @escaping @Sendable () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let answer = patience.within(place: parentDirectory(of: path), bytes: bytes) { () -> Result<Value, FileError> in
            do throws(FileError) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let answer else { throw FileError(.read, path, .late) }
        return try answer.get()
    }

    func readAll(of descriptor: Int32, _ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // The length is only an estimate: files in /proc report 0, and a growing file may be longer by now.
        let expected = try attempt(.read, path) { () throws(SystemError) in try calls.length(descriptor) }
        guard expected <= limit else { throw FileError(.read, path, .tooLarge(limit: limit)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(expected)
        var block = [UInt8](repeating: 0, count: min(max(expected, 4096), 1 << 18))
        while true {
            let count = try attempt(.read, path) { () throws(SystemError) in
                var span = block.mutableSpan
                return try span.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                    try calls.read(descriptor, into: buffer)
                }
            }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else { throw FileError(.read, path, .tooLarge(limit: limit)) }
            bytes += block[..<count]
        }
    }

    /// Returns the content of a file as text.
    ///
    /// - Throws: the errors of ``read(_:limit:)``, and ``FileError`` with ``FileError/Reason/noText(line:)`` if it is
    ///   not UTF-8.
    public func readText(_ path: String, limit: Int) throws(FileError) -> String {
        let bytes = try read(path, limit: limit)
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw FileError(.read, path, .noText(line: 1 + (wrong ?? 0)))
    }

    /// Returns the content of a file, or nil if the file does not exist.
    public func readIfPresent(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try read(path, limit: limit)
        } catch {
            guard error.operation == .open, error.reason == .system(.notFound) else { throw error }
            return nil
        }
    }
}
