import NIOCore
import NIOPosix

/// A thread for work that may block, such as a stuck bus or a storage that hangs. The event loop never waits for it.
final class WorkThread: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)

    init() { pool.start() }

    deinit { stop() }

    /// Performs the work after all earlier work, then calls `report` on the loop. After ``stop()``, no further work is
    /// performed.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, on loop: any EventLoop,
        then report: @escaping @Sendable (Value) -> Void
    ) {
        pool.submit { state in
            switch state {
            case .active:
                let value = work()
                loop.execute { report(value) }
            case .cancelled: break
            }
        }
    }

    /// Stops the thread and returns at once. Work in progress finishes, or blocks until the process ends.
    func stop() { pool.shutdownGracefully { _ in } }
}

/// A ``WorkThread`` that begins with its first work.
struct LazyThread {
    private var thread: WorkThread?

    /// Performs the work after all earlier work, then calls `report` on the loop.
    mutating func perform<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, on loop: any EventLoop,
        then report: @escaping @Sendable (Value) -> Void
    ) {
        let thread = thread ?? WorkThread()
        self.thread = thread
        thread.perform(work, on: loop, then: report)
    }

    /// Stops the thread if it runs.
    func stop() { thread?.stop() }
}
