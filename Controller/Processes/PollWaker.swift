import CProcesses
internal import Glibc

/// Wakes a thread that polls, even if it begins to poll after the wake-up.
public final class PollWaker: Sendable {
    /// The descriptor that is readable after a wake-up.
    public let reading: CInt
    private let writing: CInt

    /// Returns nil if no descriptors are available.
    public init?() {
        guard let pipe = Pipe() else { return nil }
        (reading, writing) = (pipe.reading, pipe.writing)
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Makes the descriptor readable. Any thread may call this.
    public func wake() {
        // If the pipe is full, it is readable already.
        _ = withUnsafeBytes(of: UInt8(1)) { write(writing, $0.baseAddress, 1) }
    }

    /// Clears the wake-up. The thread calls this before it checks for work, so that work that arrives later wakes it
    /// again.
    public func clear() {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
            while read(reading, room.baseAddress, room.count) == room.count {}
        }
    }
}

/// The two ends of a pipe: close-on-exec and non-blocking.
struct Pipe {
    let reading: CInt
    let writing: CInt

    init?() {
        var (reading, writing): (CInt, CInt) = (-1, -1)
        guard process_pipe(&reading, &writing) == 0 else { return nil }
        (self.reading, self.writing) = (reading, writing)
    }
}
