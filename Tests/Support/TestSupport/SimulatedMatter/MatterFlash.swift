public import Matter
public import ProtocolCore

/// The simulated flash of a plug. A write takes some time; a chosen write can fail, or the plug can lose power before or
/// after it.
public struct MatterFlash: Sendable {
    /// The result of a write.
    public enum Fate: Hashable, Sendable {
        case written
        /// The file system reports an error.
        case failed
        /// The plug loses power before the records are in flash.
        case lostPowerBefore
        /// The plug loses power after the records are in flash, before the machine receives the confirmation.
        case lostPowerAfter
    }

    private struct Write: Sendable {
        var records: MatterRecords
        var due: Instant
    }

    /// The records in flash.
    public private(set) var records: MatterRecords
    /// The fates of the next writes; without an entry, a write succeeds.
    public var fates: [Fate] = []
    /// The duration of a write.
    public var writeTime = Duration.milliseconds(5)
    /// The number of finished writes.
    public private(set) var finished = 0
    private var writes: [Write] = []

    /// Creates flash with these records.
    public init(_ records: MatterRecords = MatterRecords()) { self.records = records }

    /// The time at which the next write ends.
    public var next: Instant? { writes.first?.due }

    mutating func store(_ records: MatterRecords, now: Instant) {
        let start = writes.last?.due ?? now
        writes.append(Write(records: records, due: max(start, now) + writeTime))
    }

    /// Returns the fate of the next write that is due, or nil if none is due.
    mutating func finish(now: Instant) -> Fate? {
        guard let first = writes.first, first.due <= now else { return nil }
        writes.removeFirst()
        finished += 1
        let fate = fates.isEmpty ? .written : fates.removeFirst()
        if fate == .written || fate == .lostPowerAfter { records = first.records }
        return fate
    }

    /// Forgets the writes that were not finished when the power was lost.
    mutating func losePower() { writes = [] }
}
