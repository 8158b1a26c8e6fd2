internal import Glibc

extension TerminalDevice {
    /// Returns when the reader of this output has gone, or when the task is cancelled. Without it, a program that
    /// writes nothing for hours would not notice. It never returns for a file. Each call occupies a thread until the
    /// reader has gone or the program ends.
    public func readerGone() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let waiting = WaitingForClose(descriptor: descriptor, continuation: continuation)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(waiting).toOpaque()
        let error = pthread_create(&thread, nil, waitForClose, context)
        precondition(error == 0, "the system refused a thread for a pipe (error \(error))")
        pthread_detach(thread)
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
        // Errors and the end of the connection are always reported, without a request in `events`.
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&polled, 1, -1) < 0, errno == EINTR {}
        // The first write reports a descriptor that was never valid.
        guard polled.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
        continuation.finish()
    }
}

private func waitForClose(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<WaitingForClose>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
