internal import Glibc

/// A screen's size in character cells.
public struct TerminalSize: Hashable, Sendable {
    /// The number of columns.
    public var columns: Int
    /// The number of lines.
    public var rows: Int

    /// Creates a size.
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The result of a write.
public enum WriteResult: Hashable, Sendable {
    /// All bytes were written.
    case written
    /// The reader has closed its end (`plugctl watch | head`). This is not an error; the program ends.
    case closed
    /// Any other error, with its errno.
    case failed(Int32)
}

/// An output with its file descriptor: a terminal, a pipe or a file.
public struct TerminalDevice: Hashable, Sendable {
    /// The file descriptor.
    public let descriptor: Int32

    /// Creates a device. The descriptor is not closed.
    public init(descriptor: Int32) { self.descriptor = descriptor }

    /// The device of descriptor 0.
    public static let standardInput = TerminalDevice(descriptor: 0)
    /// The device of descriptor 1.
    public static let standardOutput = TerminalDevice(descriptor: 1)
    /// The device of descriptor 2.
    public static let standardError = TerminalDevice(descriptor: 2)

    /// True for a terminal, false for a pipe or a file.
    public var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The size; nil if this is not a terminal, or a terminal without a known size (a serial line).
    public var size: TerminalSize? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// The capabilities according to this process's environment.
    public var capabilities: Capabilities {
        var environment: [String: String] = [:]
        for name in ["NO_COLOR", "TERM", "COLORTERM", "LC_ALL", "LC_CTYPE", "LANG"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        return Capabilities(environment: environment, isTerminal: isTerminal)
    }

    /// Writes all bytes, and waits for the reader if necessary.
    @discardableResult public func write(_ bytes: [UInt8]) -> WriteResult {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, error) = rest.withUnsafeBytes { writeWithoutSignal(descriptor, $0) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch error {
            case EINTR: continue
            case EAGAIN:
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            // A terminal whose window was closed returns EIO.
            case EPIPE, EIO: return .closed
            default: return .failed(error)
            }
        }
        return .written
    }

    /// Writes a line with a line end.
    @discardableResult public func print(_ line: StyledLine, colors: ColorDepth = .none) -> WriteResult {
        write(Array((line.rendered(colors) + "\n").utf8))
    }
}

/// Writes with SIGPIPE blocked and removed from the thread, so that a closed pipe does not end this process. Ignoring
/// the signal for the whole process would also affect the programs that it starts.
private func writeWithoutSignal(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> (count: Int, error: Int32) {
    var broken = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    sigemptyset(&broken)
    sigaddset(&broken, SIGPIPE)
    sigpending(&pending)
    let wasPending = sigismember(&pending, SIGPIPE) == 1
    pthread_sigmask(SIG_BLOCK, &broken, &before)
    let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    let error = errno
    if count < 0, error == EPIPE, !wasPending {
        var atOnce = timespec()
        while sigtimedwait(&broken, nil, &atOnce) == -1, errno == EINTR {}
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    return (count, error)
}
