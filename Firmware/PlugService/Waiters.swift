/// The callers that wait for the same result.
struct Waiters<Value: Sendable> {
    private var waiting: [CheckedContinuation<Value, Never>] = []

    mutating func add(_ waiter: CheckedContinuation<Value, Never>) { waiting.append(waiter) }

    /// Resumes all callers.
    mutating func resume(returning value: Value) {
        let due = waiting
        waiting = []
        for waiter in due { waiter.resume(returning: value) }
    }
}

/// Changes that are performed one after the other. Independent tasks could finish in a different order, and an older
/// change would win.
struct TaskChain {
    private var last: Task<Void, Never>?

    /// Performs the change after all earlier ones.
    mutating func add(_ change: @escaping @Sendable () async -> Void) {
        let earlier = last
        last = Task {
            await earlier?.value
            await change()
        }
    }
}
