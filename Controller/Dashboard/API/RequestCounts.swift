import Synchronization

/// How many answers had which status.
final class RequestCounts: Sendable {
    /// Statuses are of this program's making, so they are few.
    private let counts = Mutex<[Int: UInt64]>([:])

    func count(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }

    var all: [Int: UInt64] { counts.withLock { $0 } }
}
