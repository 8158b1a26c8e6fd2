import LinuxSystem

/// A dedicated thread for one piece of blocking work, so that the work blocks nothing else in the daemon.
public enum DedicatedThread {
    /// Runs the body on a new thread and returns its result, or nil if no thread or descriptor is available. If the
    /// task is cancelled, the `PollWaker` that the body receives becomes readable.
    public static func result<Value: Sendable>(of body: @escaping @Sendable (PollWaker) -> Value) async -> Value? {
        guard let interruption = PollWaker() else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do {
                    try startThread { continuation.resume(returning: body(interruption)) }
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            interruption.wake()
        }
    }
}
