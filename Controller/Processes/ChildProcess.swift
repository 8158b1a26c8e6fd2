import CProcesses
internal import Glibc
import LinuxSystem

/// A running program, and the wait for its end on the calling thread.
public final class ChildProcess {
    /// The end of a program.
    public enum End: Equatable, Sendable {
        /// The program exited with this status.
        case exited(CInt)
        /// This signal ended the program.
        case signalled(CInt)
        /// The program ran longer than its time limit and was ended.
        case timedOut
        /// The caller interrupted the program.
        case interrupted
        /// The system did not report the end; the error number (errno.h) is the reason.
        case unknown(CInt)
    }

    /// The reason why a program cannot be started.
    public struct StartFault: Error {
        /// The reason as text for the user.
        public let words: String
        /// True if the next attempt would fail in the same way.
        public let isPermanent: Bool

        init(_ words: String, isPermanent: Bool = true) {
            (self.words, self.isPermanent) = (words, isPermanent)
        }

        /// Creates a fault from an error number (errno.h).
        public init(code: CInt) {
            words = String(cString: strerror(code))
            isPermanent = [ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP, ENAMETOOLONG, E2BIG].contains(code)
        }
    }

    /// The maximum number of bytes of the program's output that are kept. The last bytes are kept.
    static let outputLimit = 4096
    /// The time between SIGTERM and SIGKILL.
    private static let farewell = Duration.seconds(1)

    private let id: pid_t
    private let output: CInt
    private var said: [UInt8] = []

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - place: the file of the program; nil to search the first word in PATH.
    ///   - input: the program's complete standard input, which must fit into a pipe.
    ///   - fence: denies the program access to the daemon's secrets; nil for full access.
    public init(
        _ words: [String], at place: ResolvedPath? = nil, input: [UInt8], environment: [String],
        fence: LandlockSandbox? = nil
    ) throws(StartFault) {
        guard !words.isEmpty, !words.contains(where: { $0.utf8.contains(0) }) else {
            throw StartFault("its arguments are missing or contain a zero byte")
        }
        let raised = try fence?.raised()
        defer { if let raised { close(raised) } }
        guard let standardInput = Pipe() else { throw StartFault(code: errno) }
        defer { close(standardInput.reading) }
        // All input is written into the pipe before the program starts. The daemon therefore does not wait for a
        // program that does not read, and gets no SIGPIPE if the program exits early.
        let written = write(standardInput.writing, input, input.count)
        close(standardInput.writing)
        guard written == input.count else { throw StartFault("the event is too long for its standard input") }
        guard let standardOutput = Pipe() else { throw StartFault(code: errno) }
        defer { close(standardOutput.writing) }
        // The program inherits the pipes in blocking mode, as programs expect.
        for descriptor in [standardInput.reading, standardOutput.writing] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        }
        do throws(SystemError) {
            let start = ProcessStart(words, at: place?.path, environment: environment)
            let output = standardOutput.writing
            id = try start(input: standardInput.reading, output: output, error: output, fence: raised)
        } catch {
            close(standardOutput.reading)
            throw StartFault(code: error.code)
        }
        output = standardOutput.reading
    }

    deinit { close(output) }

    /// Waits until the program has ended, and stops it at the timeout or interruption. Then kills its process group.
    public func supervise(within timeout: Duration, until interruption: PollWaker) -> End {
        let clock = ContinuousClock()
        var deadline = clock.now + timeout
        var forced: End?
        let death = process_watch(id)
        guard death >= 0 else {
            let code = errno
            kill(-id, SIGKILL)
            _ = reap()
            return .unknown(code)
        }
        defer { close(death) }
        while true {
            let interrupt = forced == nil ? interruption.reading : -1
            var polled = [
                pollfd(fd: death, events: Int16(POLLIN), revents: 0),
                pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isSilent ? -1 : output, events: Int16(POLLIN), revents: 0),
            ]
            poll(&polled, nfds_t(polled.count), Self.milliseconds(deadline - clock.now))
            if polled[2].revents != 0 { _ = listen() }
            if polled[0].revents != 0 { break }
            if polled[1].revents != 0 {
                forced = .interrupted
                kill(-id, SIGTERM)
                deadline = clock.now + Self.farewell
            } else if clock.now >= deadline {
                kill(-id, forced == nil ? SIGTERM : SIGKILL)
                forced = forced ?? .timedOut
                deadline = clock.now + Self.farewell
            }
        }
        // The process id, and so the group id, cannot be reused before the process is reaped.
        kill(-id, SIGKILL)
        // Read the rest of the pipe (65,536 bytes, pipe(7)). A descendant that left the group may still write; the
        // daemon does not wait for it.
        for _ in 0..<8 { guard listen() else { break } }
        let end = reap()
        return forced ?? end
    }

    /// The last line of output, after a colon, to append to the reason of the end; empty without output.
    public var lastWords: String {
        let text = String(decoding: said, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
        guard let last = lines.last(where: { !$0.isEmpty }) else { return "" }
        let safe = last.unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : $0 }
        return ": " + String(String.UnicodeScalarView(safe))
    }

    /// True if all writers have closed the output.
    private var isSilent = false

    /// Reads one portion of the available output, and drops all but the last ``outputLimit`` bytes of the whole output.
    /// The deadline is checked between portions.
    ///
    /// - Returns: false if nothing was available or if the output has ended.
    private func listen() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(output, &bytes, bytes.count)
        if count == 0 { isSilent = true }
        guard count > 0 else { return false }
        said += bytes[..<count]
        if said.count > Self.outputLimit { said.removeFirst(said.count - Self.outputLimit) }
        return true
    }

    private func reap() -> End {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 { guard errno == EINTR else { return .unknown(errno) } }
        let signal = status & 0x7f
        return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }

    private static func milliseconds(_ left: Duration) -> CInt {
        let (seconds, attoseconds) = left.components
        // Round up, so that the time is over when poll returns.
        let whole = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return CInt(clamping: max(0, whole))
    }
}
