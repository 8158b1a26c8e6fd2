import Glibc
import LinuxSystem

/// A small file of the kernel with one value.
enum SystemFile {
    /// The limit of an attribute in bytes, one page.
    private static let size = 4096

    /// Reads the text without surrounding white space.
    static func read(_ path: String) throws(SystemError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError(errno) }
        defer { close(descriptor) }
        let text: Result<String, SystemError> = withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { bytes in
            let count = Glibc.read(descriptor, bytes.baseAddress, size)
            guard count >= 0 else { return .failure(SystemError(errno)) }
            let text = bytes[..<count].drop(while: isSpace)
            let end = text.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? text.startIndex
            return .success(String(decoding: text[..<end], as: UTF8.self))
        }
        return try text.get()
    }

    static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError(errno) }
        defer { close(descriptor) }
        try write(text, to: descriptor)
    }

    /// Writes the text with a single write, as the kernel requires.
    static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        var text = text
        let written = text.withUTF8 { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard written >= 0 else { throw SystemError(errno) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
