import CEffects
internal import Glibc

/// A pipe that wakes a thread which polls: once written to it stays readable.
final class Wake: Sendable {
    let reading: CInt
    private let writing: CInt

    /// Nil where no descriptors are left.
    init?() {
        guard let pipe = Pipe() else { return nil }
        (reading, writing) = (pipe.reading, pipe.writing)
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wake() {
        // A pipe that is full has woken already.
        _ = withUnsafeBytes(of: UInt8(1)) { write(writing, $0.baseAddress, 1) }
    }
}

/// Both ends of a pipe: closed when a program is started, and never waited for.
struct Pipe {
    let reading: CInt
    let writing: CInt

    init?() {
        var (reading, writing): (CInt, CInt) = (-1, -1)
        guard command_pipe(&reading, &writing) == 0 else { return nil }
        (self.reading, self.writing) = (reading, writing)
    }
}
