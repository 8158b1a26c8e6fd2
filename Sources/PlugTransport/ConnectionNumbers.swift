import PlugModel
import Synchronization

/// Numbers connections from 1, never the same twice in a process, so that a late report cannot meet a newer connection.
final class ConnectionNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> ConnectionID {
        ConnectionID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}
