import LinuxSystem
import PlugClient
import UnixSignals

/// Runs the body until it ends, the time is over, or the user interrupts it (Control-C, SIGTERM), whichever comes
/// first.
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

/// Runs the body of a one-shot command, and ends the process at once on Control-C and SIGTERM. The signals need a
/// handler, because the kernel ignores them otherwise if the process is the first one of a container.
func endingAtOnce(_ body: () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let ending = Task {
        for await signal in signals { OrderlyStop.now(on: signal == .sigint ? 2 : 15) }
    }
    defer { ending.cancel() }
    try await body()
}

/// Runs the body of a one-shot command, which waits for answers of the plug. When the time is over, the function stops
/// following the plug, which ends every wait for the plug.
///
/// - Throws: ``NoAnswer`` if the time is over before the body ends.
func answered<Result>(
    by plug: FollowedPlug, within limit: TimeSpan, _ body: () async throws -> Result
) async throws -> Result {
    let timer = Task {
        try await Task.sleep(for: limit.duration)
        await plug.stop()
        return true
    }
    func isOver() async -> Bool {
        timer.cancel()
        return (try? await timer.value) == true
    }
    do {
        let result = try await body()
        if await isOver() { throw NoAnswer(plug: plug.name, limit: limit) }
        return result
    } catch {
        if await isOver() { throw NoAnswer(plug: plug.name, limit: limit) }
        throw error
    }
}

/// The plug did not answer within the time of `--timeout`.
struct NoAnswer: Error, CustomStringConvertible {
    let plug: String
    let limit: TimeSpan

    var description: String {
        """
        \(plug): no answer within \(limit)
        hint: `plugctl doctor` finds the reason; --timeout waits longer
        """
    }
}
