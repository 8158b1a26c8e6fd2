import Synchronization

/// Counts the answers by status.
final class RequestCounts: Sendable {
    /// Clients cannot choose the statuses, so the dictionary stays small.
    private let counts = Mutex<[Int: UInt64]>([:])

    func count(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }

    var all: [Int: UInt64] { counts.withLock { $0 } }
}
