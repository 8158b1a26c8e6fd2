import PlugModel
import Synchronization

/// Numbers connections from 1. A number is never reused within a process, so a late report cannot refer to a newer
/// connection.
final class ConnectionNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> ConnectionID {
        ConnectionID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}
