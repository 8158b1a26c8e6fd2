internal import Glibc

/// What must be put right at the terminal when the process ends, whichever way: by `exit`, by a signal, by a trap.
///
/// It lives in memory made once and never freed, since a signal handler may neither allocate nor lock. Only one keyboard
/// and one screen are in use at a time; they are registered and removed by their owners.
enum Restoration {
    struct State {
        var keyboard: Int32 = -1
        var keyboardModes = termios()
        var screen: Int32 = -1
        /// Written to the screen.
        var farewell: UnsafeMutablePointer<UInt8>
        var farewellLength = 0
        /// The write end of the pipe that wakes the reader of the keyboard.
        var wake: Int32 = -1
    }

    static let farewellCapacity = 64

    nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State(farewell: .allocate(capacity: farewellCapacity)))
        return state
    }()

    /// Call before registering anything. The handlers use ``state``, so it is made before them.
    static func prepare() {
        _ = state
        _ = hooks
    }

    private static let hooks: Void = {
        atexit { putRight() }
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
            install(signal) { signal in
                putRight()
                // The signal stays blocked until the handler returns and then ends the process as it would have.
                Glibc.signal(signal, SIG_DFL)
                raise(signal)
            }
        }
        install(SIGWINCH) { _ in wake(Wake.resized) }
        install(SIGCONT) { _ in wake(Wake.resumed) }
    }()

    /// Only where nobody else handles or ignores the signal: whoever does ends the program in an orderly way.
    private static func install(_ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        sigaction(signal, nil, &action)
        guard action.__sigaction_handler.sa_handler == nil else { return }
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
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

/// Why the reader of the keyboard is woken.
enum Wake {
    static let resized = UInt8(ascii: "w")
    static let resumed = UInt8(ascii: "c")
    static let closed = UInt8(ascii: "q")
}
