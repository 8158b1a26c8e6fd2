import CProcesses
internal import Glibc
import LinuxSystem

/// A program that reads standard input, writes standard output, and then exits. Input and output are files in memory,
/// so the program never waits for this process.
public struct Filter: Sendable {
    /// The reason why a program has no output.
    public enum Fault: Error, Hashable, Sendable {
        /// The program is not installed.
        case missing
        /// The program failed or took too long: the last line of its standard error, or another reason.
        case failed(String)
    }

    private let words: [String]
    private let limit: Duration

    /// Describes the program.
    ///
    /// - Parameters:
    ///   - words: its name, which is searched in PATH, and its arguments.
    /// - limit: the time after which it is killed, in whole seconds; a fraction is ignored.
    public init(_ words: [String], limit: Duration) { (self.words, self.limit) = (words, limit) }

    /// Runs the program, blocks until its end, and returns its output.
    public func output(of input: [UInt8]) throws(Fault) -> [UInt8] {
        let end: End
        do throws(SystemError) { end = try run(input) } catch {
            throw error == .notFound ? .missing : .failed(error.description)
        }
        guard end.status != 0 else { return end.output }
        let said = String(decoding: end.errors, as: UTF8.self).split(whereSeparator: \.isNewline).last
        throw .failed(said.map(String.init) ?? "\(words[0]) failed, was killed, or did not end in time")
    }

    private struct End {
        var status: CInt
        var output: [UInt8]
        var errors: [UInt8]
    }

    private func run(_ input: [UInt8]) throws(SystemError) -> End {
        let (given, output, errors) = (try MemoryFile(input), try MemoryFile(), try MemoryFile())
        let environment: [String] = ["PATH", "HOME"].compactMap { (name: String) -> String? in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        let id = try ProcessStart(words, at: nil, environment: environment)(
            input: given.descriptor, output: output.descriptor, error: errors.descriptor)
        let death = process_watch(id)
        var polled = pollfd(fd: death, events: Int16(POLLIN), revents: 0)
        let milliseconds = CInt(clamping: limit.components.seconds * 1000)
        if death < 0 || poll(&polled, 1, milliseconds) <= 0 { kill(-id, SIGKILL) }
        if death >= 0 { close(death) }
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 { guard errno == EINTR else { throw SystemError(errno) } }
        return try End(status: status, output: output.bytes(), errors: errors.bytes())
    }
}

/// An unnamed file in memory, close-on-exec. A program that inherits the file begins to read or write at the
/// file's first byte.
private final class MemoryFile {
    let descriptor: CInt

    init(_ bytes: [UInt8] = []) throws(SystemError) {
        descriptor = process_memory_file()
        guard descriptor >= 0 else { throw SystemError(errno) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
            guard count > 0 else { throw SystemError(errno) }
            written += count
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }

    func bytes() throws(SystemError) -> [UInt8] {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw SystemError(errno) }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + count, $0.count - count, count)
            }
            guard read > 0 else { throw SystemError(read == 0 ? EIO : errno) }
            count += read
        }
        return bytes
    }
}
