internal import Glibc
import LinuxSystem
internal import Synchronization

/// An event of a terminal.
public enum TerminalEvent: Hashable, Sendable {
    case key(Key)
    /// The window has a new size.
    case resized(TerminalSize)
    /// The process was stopped and resumed. The screen must be redrawn.
    case resumed
}

/// The keyboard in raw mode: keys arrive one by one without echo, and Control-C is a key. The previous modes are
/// restored by ``close()``, when the input is released, and when the process ends by `exit`, a signal or a trap.
public final class TerminalInput: Sendable {
    /// The maximum number of unread events. The oldest are dropped first.
    static let mostUnread = 256

    /// The events. The stream ends when the terminal is closed or ``close()`` is called. It supports one reader.
    public let events: AsyncStream<TerminalEvent>
    private let reader: KeyboardReader

    /// Creates an input, or returns nil if the device is not a terminal. Only one input may exist at a time.
    public init?(_ device: TerminalDevice = .standardInput) {
        guard device.isTerminal, let keyboard = RawKeyboard(device.descriptor) else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: TerminalEvent.self, bufferingPolicy: .bufferingNewest(TerminalInput.mostUnread))
        guard let reader = KeyboardReader(keyboard, continuation) else {
            keyboard.restore()
            return nil
        }
        events = stream
        self.reader = reader
        continuation.onTermination = { _ in reader.close() }
        reader.start()
    }

    /// Restores the keyboard's modes immediately and ends ``events``. Further calls do nothing.
    public func close() { reader.close() }

    deinit { reader.close() }
}

/// A terminal's previous modes and raw modes.
private struct RawKeyboard: Sendable {
    let descriptor: Int32
    private let found: termios
    private let raw: termios

    init?(_ descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        precondition(Restoration.state.pointee.keyboard < 0, "one terminal input at a time")
        self.descriptor = descriptor
        found = modes
        // Disables canonical lines, echo, signals and extensions, and translation and flow control of input. Output
        // modes are kept, so that other programs' messages still begin at the left.
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        modes.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON | ISTRIP)
        raw = modes
        Restoration.prepare()
        Restoration.state.pointee.keyboardModes = found
        Restoration.state.pointee.keyboard = descriptor
        apply()
    }

    func apply() { set(raw) }

    func restore() {
        Restoration.state.pointee.keyboard = -1
        set(found)
    }

    private func set(_ modes: termios) {
        var modes = modes
        // With TCSADRAIN, pending output is finished under its original modes.
        while tcsetattr(descriptor, TCSADRAIN, &modes) == -1, errno == EINTR {}
    }
}

/// A thread that blocks in `poll` on the keyboard and on a pipe that wakes it.
private final class KeyboardReader: Sendable {
    /// The time in milliseconds to wait for the rest of a sequence after its Escape, sufficient for a slow connection.
    private static let escapeDelay: Int32 = 50

    private let keyboard: RawKeyboard
    private let continuation: AsyncStream<TerminalEvent>.Continuation
    private let wakeRead: Int32
    private let wakeWrite: Int32
    private let isOpen = Mutex(true)

    init?(_ keyboard: RawKeyboard, _ continuation: AsyncStream<TerminalEvent>.Continuation) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.keyboard = keyboard
        self.continuation = continuation
        wakeRead = ends[0]
        wakeWrite = ends[1]
        Restoration.state.pointee.wake = wakeWrite
    }

    func start() {
        do { try startThread { self.run() } } catch { preconditionFailure("no thread for the keyboard: \(error)") }
    }

    func close() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            Restoration.state.pointee.wake = -1
            keyboard.restore()
            var reason = WakeReason.closed
            _ = write(wakeWrite, &reason, 1)
        }
        continuation.finish()
    }

    func run() {
        var decoder = KeyDecoder()
        var isRunning = true
        while isRunning {
            var polled = [
                pollfd(fd: keyboard.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&polled, 2, decoder.isPending ? KeyboardReader.escapeDelay : -1)
            if ready < 0, errno == EINTR { continue }
            if ready == 0 { report(decoder.flush()) }
            if polled[1].revents != 0 { isRunning = handleWake() }
            if isRunning, polled[0].revents != 0 {
                let bytes = read(keyboard.descriptor)
                report(decoder.decode(bytes))
                isRunning = !bytes.isEmpty
            }
        }
        close()
        Glibc.close(wakeRead)
        Glibc.close(wakeWrite)
    }

    private func report(_ keys: [Key]) {
        for key in keys { continuation.yield(.key(key)) }
    }

    /// Returns false if the reader must end.
    private func handleWake() -> Bool {
        for reason in read(wakeRead) {
            switch reason {
            case WakeReason.closed: return false
            case WakeReason.resumed:
                // The shell may have changed the modes while the process was stopped.
                isOpen.withLock { if $0 { keyboard.apply() } }
                continuation.yield(.resumed)
            default:
                if let size = TerminalDevice(descriptor: keyboard.descriptor).size {
                    continuation.yield(.resized(size))
                }
            }
        }
        return true
    }

    /// Returns the available bytes; empty at the end of the input.
    private func read(_ descriptor: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            repeat {
                count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            count = max(0, count)
        }
    }
}
