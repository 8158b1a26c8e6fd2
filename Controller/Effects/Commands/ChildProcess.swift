import CEffects
internal import Glibc

/// A program at work, and the thread that waits for it.
final class ChildProcess {
    enum End: Equatable {
        case exited(CInt)
        case signalled(CInt)
        case timedOut
        case interrupted
        /// The system does not tell: why not (errno.h).
        case unknown(CInt)
    }

    struct StartFault: Error {
        let words: String
        /// It would be the same in a moment.
        let isLasting: Bool

        init(_ words: String) {
            self.words = words
            isLasting = true
        }

        init(code: CInt) {
            words = String(cString: strerror(code))
            isLasting = [ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP, ENAMETOOLONG, E2BIG].contains(code)
        }
    }

    /// Bytes of what it says last that are kept.
    static let outputLimit = 4096
    /// Between the request to end and the end that nothing can refuse.
    private static let farewell = Duration.seconds(1)

    private let id: pid_t
    private let output: CInt
    private var said: [UInt8] = []

    /// - Parameters:
    ///   - words: the program, looked for in PATH, and its arguments.
    ///   - place: where the program is, if that is not to be looked for.
    ///   - input: all of what it reads: fewer bytes than a pipe holds.
    ///   - fence: what it is kept from.
    init(
        _ words: [String], at place: FilePlace? = nil, input: [UInt8], environment: [String], fence: KeyFence? = nil
    ) throws(StartFault) {
        guard !words.isEmpty, !words.contains(where: { $0.utf8.contains(0) }) else {
            throw StartFault("its words hold a zero byte, or there are none")
        }
        let raised = try fence?.raised() ?? -1
        defer { if raised >= 0 { close(raised) } }
        guard let standardInput = Pipe() else { throw StartFault(code: errno) }
        defer { close(standardInput.reading) }
        // All of it before the program begins: so nobody waits for a program that does not read, or dies of its death.
        let written = write(standardInput.writing, input, input.count)
        close(standardInput.writing)
        guard written == input.count else { throw StartFault("what happened is too long for its standard input") }
        guard let standardOutput = Pipe() else { throw StartFault(code: errno) }
        defer { close(standardOutput.writing) }
        do throws(StartFault) {
            id = try Self.spawn(
                place?.path, words, environment, standardInput.reading, standardOutput.writing, raised)
        } catch {
            close(standardOutput.reading)
            throw error
        }
        output = standardOutput.reading
    }

    deinit { close(output) }

    private static func spawn(
        _ program: String?, _ words: [String], _ environment: [String], _ input: CInt, _ output: CInt, _ fence: CInt
    ) throws(StartFault) -> pid_t {
        // It gets the pipes as they are, and a program waits where it reads and writes.
        for descriptor in [input, output] { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
        var number: pid_t = 0
        let status = withStrings(words) { words in
            withStrings(environment) { command_start(program, words, $0, input, output, fence, &number) }
        }
        guard status == 0 else { throw StartFault(code: status) }
        return number
    }

    /// Waits until it has ended, and ends it where it has to be. Then nothing is left of its process group.
    func supervise(within timeout: Duration, until interruption: Wake) -> End {
        let clock = ContinuousClock()
        var deadline = clock.now + timeout
        var forced: End?
        let death = command_watch(id)
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
        // Its number, and so its group's, is nobody else's until it is reaped.
        kill(-id, SIGKILL)
        // All that the pipe holds (pipe(7): 65 536 bytes). Whoever left its group may write still, and is not waited for.
        for _ in 0..<8 { guard listen() else { break } }
        let end = reap()
        return forced ?? end
    }

    /// What it said at last, to follow on what became of it; empty where it said nothing.
    var lastWords: String {
        let text = String(decoding: said, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
        guard let last = lines.last(where: { !$0.isEmpty }) else { return "" }
        let safe = last.unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : $0 }
        return ": " + String(String.UnicodeScalarView(safe))
    }

    /// Whoever has the other end closed it.
    private var isSilent = false

    /// Takes what there is, of which the end is kept. A flood is read a portion at a time, so that the deadline is seen.
    ///
    /// - Returns: false where there was nothing.
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
        // Rounded up, so that it is over when it wakes.
        let whole = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return CInt(clamping: max(0, whole))
    }
}

/// As C has lists of texts: with a null at the end.
private func withStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
