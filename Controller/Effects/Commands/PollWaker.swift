import CEffects
internal import Glibc

/// Wakes a thread that polls: a pipe that stays readable after the first `wake()`.
final class PollWaker: Sendable {
    let reading: CInt
    private let writing: CInt

    /// Returns nil if no descriptors are available.
    init?() {
        guard let pipe = Pipe() else { return nil }
        (reading, writing) = (pipe.reading, pipe.writing)
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wake() {
        // If the pipe is full, it is readable already.
        _ = withUnsafeBytes(of: UInt8(1)) { write(writing, $0.baseAddress, 1) }
    }
}

/// The two ends of a pipe: close-on-exec and non-blocking.
struct Pipe {
    let reading: CInt
    let writing: CInt

    init?() {
        var (reading, writing): (CInt, CInt) = (-1, -1)
        guard command_pipe(&reading, &writing) == 0 else { return nil }
        (self.reading, self.writing) = (reading, writing)
    }
}
