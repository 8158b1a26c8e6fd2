internal import Glibc
import Synchronization

/// Held by a process from its start until it is closed; cut by another thread, it ends the process, also in the midst of a call.
final class Cord: Sendable {
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

    /// Before it is closed: its number may be another's afterwards.
    func letGo() { state.withLock { $0.socket = nil } }

    /// For good: it ends whoever holds it later, too.
    func cut() {
        state.withLock { state in
            state.isCut = true
            if let socket = state.socket { _ = shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }
}
