extension FileStore {
    /// The whole file's bytes.
    ///
    /// - Parameter limit: most bytes the file may hold. It keeps a wrong path (a disk image, an endless device) from
    ///   filling the memory.
    /// - Throws: ``FileError`` with ``FileError/Reason/tooLarge(limit:)`` beyond the limit.
    public func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let descriptor = try open(path, .reading)
        defer { calls.close(descriptor) }
        return try readAll(of: descriptor, path, limit: limit)
    }

    func readAll(of descriptor: Int32, _ path: String, limit: Int) throws(FileError) -> [UInt8] {
        // The length is only a first guess: pipes and files of /proc report 0, and a growing file has more by now.
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

    /// The file's bytes, or nil if there is no such file yet.
    public func readIfPresent(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try read(path, limit: limit)
        } catch {
            guard error.operation == .open, error.reason == .system(.notFound) else { throw error }
            return nil
        }
    }
}
