internal import Glibc
import Synchronization

/// Lets another thread end a process, even during a call: the process registers its socket, and `cut()` shuts it down.
final class HostPipe: Sendable {
    private struct State {
        var socket: CInt?
        var isCut = false
    }

    private let state = Mutex(State())

    func hold(_ socket: CInt) {
        state.withLock { state in
            state.socket = socket
            if state.isCut { _ = shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }

    /// Unregisters the socket. Must be called before the socket is closed, because its number may be reused.
    func letGo() { state.withLock { $0.socket = nil } }

    /// Shuts down the registered socket, and every socket that is registered later.
    func cut() {
        state.withLock { state in
            state.isCut = true
            if let socket = state.socket { _ = shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }
}
