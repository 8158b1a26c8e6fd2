import CScripting
internal import Glibc

/// Wakes a thread that polls, even if it begins to poll after the wake-up.
final class PollWaker: Sendable {
    /// The descriptor that is readable after a wake-up.
    let reading: CInt
    private let writing: CInt

    /// Returns nil if no descriptors are available.
    init?() {
        var (reading, writing): (CInt, CInt) = (-1, -1)
        guard script_socket_pair(&reading, &writing) == 0 else { return nil }
        (self.reading, self.writing) = (reading, writing)
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wake() {
        // If the socket is full, the descriptor is readable already.
        _ = withUnsafeBytes(of: UInt8(1)) {
            send(writing, $0.baseAddress, 1, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Clears the wake-up. The thread calls this before it checks for work, so that work that arrives later wakes it
    /// again.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
            while recv(reading, room.baseAddress, room.count, 0) == room.count {}
        }
    }
}
