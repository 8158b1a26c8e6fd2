import CScripting
internal import Glibc

/// Wakes a thread that polls, also where it begins to poll only afterwards.
final class Wake: Sendable {
    /// Can be read once it has been woken.
    let reading: CInt
    private let writing: CInt

    /// Nil where no descriptors are left.
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
        // One that is full has woken already.
        _ = withUnsafeBytes(of: UInt8(1)) {
            send(writing, $0.baseAddress, 1, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Before looking at what it was woken for, so that what comes meanwhile wakes it again.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
            while recv(reading, room.baseAddress, room.count, 0) == room.count {}
        }
    }
}
