internal import Glibc

/// Restores the terminal at the end of the process: after `exit`, a signal, or a trap.
///
/// The state is in memory that is allocated once and never freed, since a signal handler must not allocate memory or
/// take a lock. Only one keyboard and one screen are in use at a time; their owners register and remove them.
enum Restoration {
    struct State {
        var keyboard: Int32 = -1
        var keyboardModes = termios()
        var screen: Int32 = -1
        /// The bytes to write to the screen.
        var farewell: UnsafeMutablePointer<UInt8>
        var farewellLength = 0
        /// The previous action of each signal, by its number.
        let earlier: UnsafeMutablePointer<sigaction>
        /// The write end of the pipe that wakes the reader of the keyboard.
        var wake: Int32 = -1
    }

    static let farewellCapacity = 64
    /// The number of entries in `earlier`, more than the largest signal number used here.
    private static let signalCapacity = 32

    /// The signals that end a program. A program that handles them ends regularly and restores the terminal itself, so
    /// its handlers are kept.
    private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
    /// The signals of a crash. Their handlers (such as Swift's backtraces) write to the terminal, which must be
    /// restored first.
    private static let crashes = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        let earlier = UnsafeMutablePointer<sigaction>.allocate(capacity: signalCapacity)
        earlier.initialize(repeating: sigaction(), count: signalCapacity)
        state.initialize(to: State(farewell: .allocate(capacity: farewellCapacity), earlier: earlier))
        return state
    }()

    /// Installs the handlers. Call it before any registration. ``state`` is created first, because the handlers use it.
    static func prepare() {
        _ = state
        _ = hooks
    }

    private static let hooks: Void = {
        atexit { putRight() }
        for signal in endings + crashes {
            install(signal, onlyIfDefault: endings.contains(signal)) { signal in
                putRight()
                // The signal is blocked until this handler returns; then its previous action is performed.
                sigaction(signal, state.pointee.earlier + Int(signal), nil)
                raise(signal)
            }
        }
        install(SIGWINCH, onlyIfDefault: true) { _ in wake(WakeReason.resized) }
        install(SIGCONT, onlyIfDefault: true) { _ in wake(WakeReason.resumed) }
    }()

    /// Installs a handler. An ignored signal remains ignored; with `onlyIfDefault` an existing handler is kept as well.
    private static func install(
        _ signal: Int32, onlyIfDefault: Bool, _ handler: @escaping @convention(c) (Int32) -> Void
    ) {
        let earlier = state.pointee.earlier + Int(signal)
        sigaction(signal, nil, earlier)
        let isDefault = earlier.pointee.__sigaction_handler.sa_handler == nil
        let isIgnored =
            Int(bitPattern: unsafeBitCast(earlier.pointee.__sigaction_handler.sa_handler, to: OpaquePointer?.self)) == 1
        guard isDefault || !(isIgnored || onlyIfDefault) else { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART | SA_ONSTACK
        sigaction(signal, &action, nil)
    }

    private static func putRight() {
        if state.pointee.screen >= 0 {
            _ = write(state.pointee.screen, state.pointee.farewell, state.pointee.farewellLength)
            state.pointee.screen = -1
        }
        if state.pointee.keyboard >= 0 {
            tcsetattr(state.pointee.keyboard, TCSANOW, &state.pointee.keyboardModes)
            state.pointee.keyboard = -1
        }
    }

    private static func wake(_ reason: UInt8) {
        let error = errno
        var byte = reason
        if state.pointee.wake >= 0 { _ = write(state.pointee.wake, &byte, 1) }
        errno = error
    }
}

/// The reasons to wake the reader of the keyboard.
enum WakeReason {
    static let resized = UInt8(ascii: "w")
    static let resumed = UInt8(ascii: "c")
    static let closed = UInt8(ascii: "q")
}
