internal import Glibc

extension TerminalDevice {
    /// Returns when nobody can read any more what is written here, or when the task is cancelled: a program that has nothing to
    /// write for hours would not hear of it otherwise. Of a file that never happens. Each call keeps a thread until the reader
    /// has gone or the program ends.
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
        // Errors and the end of the connection are told without being asked for.
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&polled, 1, -1) < 0, errno == EINTR {}
        // A descriptor that never was is told by the first write.
        guard polled.revents & Int16(POLLERR | POLLHUP) != 0 else { return }
        continuation.finish()
    }
}

private func waitForClose(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<WaitingForClose>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
