/// A range of events that a subscriber requested and the plug cannot deliver. Both ends are included. The range may
/// contain numbers that were never used. With ``Reason/unknownCursor`` it may be empty (`to` is `from - 1`).
public struct Gap: Hashable, Sendable {
    /// The reason of a gap (`GapReason` in smartplug.proto).
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The plug lost power and its event journal with it.
        case powerLost
        /// The journal overwrote the events before the subscriber read them.
        case overwritten
        /// The subscriber's cursor is ahead of the journal, so the cursor belongs to a different plug. The range ends
        /// before the next event, which becomes the subscriber's new start.
        case unknownCursor
        /// The plug cannot rely on its flash. It continued at a number that it cannot have used before.
        case storageFailed
        /// The plug was reset to its factory state and erased its events.
        case factoryReset
        /// A reason that this version does not know.
        case unknown
    }

    /// The first missing number.
    public var from: SequenceNumber
    /// The last missing number.
    public var to: SequenceNumber
    /// The reason why the events are missing.
    public var reason: Reason

    /// Creates a gap from `from` to `to`, both included.
    public init(from: SequenceNumber, to: SequenceNumber, reason: Reason) {
        self.from = from
        self.to = to
        self.reason = reason
    }
}
