import NIOPosix
import PowerHistory
import Presentation
import Synchronization

/// Where files and the history are read: neither on an event loop nor where everything else computes.
enum HistoryThreads {
    /// Requests that wait or are read. Stops those who ask for years over and over from filling the memory.
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
            throw Fault.unavailable("too much of the history is being asked for at once", hint: "try again in a moment")
        }
        return try await threads.runIfActive(work)
    }
}

extension Dashboard {
    /// - Throws: ``Fault``.
    func reading<Answer: Sendable>(
        _ work: @escaping @Sendable (PowerHistory) throws -> Answer
    ) async throws -> Answer {
        guard let history else {
            throw Fault.unavailable(
                "the daemon keeps no history", hint: "its log says why; or it was started with --no-history")
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
