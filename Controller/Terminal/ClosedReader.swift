internal import Glibc
import LinuxSystem

extension TerminalDevice {
    /// Returns when the reader of this pipe or terminal has closed it, or when the task is cancelled. A program that
    /// writes nothing for hours would otherwise not notice the end of its reader. For a file, the function returns only
    /// after a cancellation. Each call occupies a thread until the reader has closed its end or the program ends.
    public func readerGone() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let waiting = WaitingForClose(descriptor: descriptor, continuation: continuation)
        do { try startThread { waiting.run() } } catch { preconditionFailure("no thread for a pipe: \(error)") }
        for await _ in stream {}
    }
}

private final class WaitingForClose: Sendable {
    let descriptor: Int32
    let continuation: AsyncStream<Void>.Continuation

    init(descriptor: Int32, continuation: AsyncStream<Void>.Continuation) {
        self.descriptor = descriptor
        self.continuation = continuation
    }

    func run() {
        // `poll` reports errors and the end of the connection even if `events` is 0.
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&polled, 1, -1) < 0, errno == EINTR {}
        // For an invalid descriptor, the program's first write reports the error.
        guard polled.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
        continuation.finish()
    }
}
