import NIOPosix
import PowerHistory
import Presentation
import Synchronization

/// Two threads that read files and the history, because these reads would block an event loop or the cooperative pool.
enum HistoryThreads {
    /// The maximum number of requests that run or wait. It stops repeated requests for years of history from filling
    /// the memory.
    private static let limit = 32
    private static let pending = Atomic(0)
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return threads
    }()

    static func run<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
        defer { pending.subtract(1, ordering: .relaxed) }
        guard pending.add(1, ordering: .relaxed).newValue <= limit else {
            throw Fault.unavailable("too many requests to the history at once", hint: "try again in a moment")
        }
        return try await threads.runIfActive(work)
    }
}

extension Dashboard {
    /// Runs work on the history.
    ///
    /// - Throws: ``Fault`` if the daemon keeps no history, if the plug is unknown or its name ambiguous, if too many
    ///   requests are pending, or if the history cannot be read.
    func reading<Answer: Sendable>(
        _ work: @escaping @Sendable (PowerHistory) throws -> Answer
    ) async throws -> Answer {
        guard let history else {
            throw Fault.unavailable(
                "the daemon records no history", hint: "see its log, or start it without --no-history")
        }
        do {
            return try await HistoryThreads.run { try work(history) }
        } catch let error as HistoryError {
            switch error.reason {
            case .unknownPlug, .ambiguous: throw Fault(.notFound, "\(error)", hint: error.hint)
            default: throw Fault.unavailable("\(error)", hint: error.hint)
            }
        }
    }
}
