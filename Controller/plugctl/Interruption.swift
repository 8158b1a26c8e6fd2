import DurableFiles
import UnixSignals

/// Runs the body until it ends, the time is over, or the person has seen enough (Control-C, SIGTERM), whichever comes first.
func untilInterrupted(for limit: TimeSpan? = nil, _ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            do { try await body() } catch is CancellationError {}
        }
        group.addTask {
            for await _ in signals { break }
            if !Task.isCancelled { OrderlyStop.limit("plugctl") }
        }
        if let limit {
            group.addTask { try? await Task.sleep(for: limit.duration) }
        }
        try await group.next()
        group.cancelAll()
    }
}
