internal import Glibc

/// A thread for one piece of work that blocks: nothing of what the daemon does else waits behind it.
enum OwnThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// False where the system gives no thread; nothing is done then.
    static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// What the work gives; nil where there is no thread, or no descriptor, for it. It is woken where its task is cancelled.
    static func result<Value: Sendable>(of body: @escaping @Sendable (Wake) -> Value) async -> Value? {
        guard let interruption = Wake() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !run({ continuation.resume(returning: body(interruption)) }) { continuation.resume(returning: nil) }
            }
        } onCancel: {
            interruption.wake()
        }
    }
}
