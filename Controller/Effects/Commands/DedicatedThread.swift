internal import Glibc

/// A dedicated thread for one piece of blocking work, so that the work blocks nothing else in the daemon.
enum DedicatedThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the body on a new thread. Returns false, without running the body, if the system cannot create a thread.
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

    /// Runs the body on a new thread and returns its result, or nil if no thread or descriptor is available. If the
    /// task is cancelled, the `PollWaker` that the body receives becomes readable.
    static func result<Value: Sendable>(of body: @escaping @Sendable (PollWaker) -> Value) async -> Value? {
        guard let interruption = PollWaker() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !run({ continuation.resume(returning: body(interruption)) }) { continuation.resume(returning: nil) }
            }
        } onCancel: {
            interruption.wake()
        }
    }
}
