import MatterWire
import ProtocolCore

/// The newest events of a node (Matter 7.14). Numbers increase strictly, also across restarts: all numbers below a
/// limit in flash may have been used, and a restart continues at the limit.
struct EventJournal: Sendable {
    /// The limit of stored events. It bounds the memory and the length of a report.
    static let limit = 64
    /// The limit of stored events per path for measurements, so that they do not evict presses and starts.
    static let measurementLimit = 8
    /// The count of numbers that one write to flash reserves.
    static let reservation: UInt64 = 4096
    /// The count of reserved numbers below which the next ones are reserved.
    private static let reserve: UInt64 = 256

    private var events: [NodeEvent] = []
    private var next: UInt64
    private var reserved: UInt64

    /// Continues after a restart.
    ///
    /// - Parameter limit: the limit in flash, which is greater than all numbers that were used.
    init(limit: UInt64) { (next, reserved) = (limit, limit) }

    /// Returns a new limit to store if too few reserved numbers are left, otherwise nil.
    mutating func reserveNumbers() -> UInt64? {
        guard next &+ Self.reserve > reserved else { return nil }
        reserved = next &+ Self.reservation
        return reserved
    }

    /// Adds an event. If the journal is full, the oldest event that is not critical is removed.
    mutating func record(
        _ path: ConcretePath, priority: UInt8, _ value: TLVValue, fabric: UInt8? = nil, pathLimit: Int? = nil,
        now: Instant
    ) {
        if let pathLimit, events.count(where: { $0.path == path }) >= pathLimit,
            let oldest = events.firstIndex(where: { $0.path == path })
        {
            events.remove(at: oldest)
        }
        if events.count >= Self.limit {
            events.remove(at: events.firstIndex { $0.priority < EventPriority.critical.rawValue } ?? 0)
        }
        events.append(
            NodeEvent(
                path: path, number: next, priority: priority, time: now - .zero, value: value, fabric: fabric))
        next &+= 1
    }

    /// The stored events with greater numbers, ascending.
    func events(after number: UInt64?) -> [NodeEvent] {
        guard let number else { return events }
        return events.filter { $0.number > number }
    }

    /// Removes the events of a fabric, which only this fabric could read.
    mutating func forget(fabric: UInt8) { events.removeAll { $0.fabric == fabric } }
}
