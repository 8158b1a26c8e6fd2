import NIOCore
import NIOPosix

/// A thread of its own for what may block: a bus that is stuck, a storage that hangs. The event loop never waits for it.
final class WorkThread: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)

    init() { pool.start() }

    deinit { stop() }

    /// Performs the work after all that was given before, and hands what comes of it back to the loop, in one turn of it. After
    /// ``stop()`` nothing is performed.
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

    /// Returns at once: work that is under way comes to its end or blocks for as long as the process lives.
    func stop() { pool.shutdownGracefully { _ in } }
}
