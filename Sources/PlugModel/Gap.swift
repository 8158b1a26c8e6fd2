/// Events that a subscriber asked for and the plug cannot deliver: `from` to `to`, both included. The range may include
/// numbers that were never used. After ``Reason/unknownCursor`` it may be empty (`to` is `from - 1`).
public struct Gap: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The plug lost power and with it the journal.
        case powerLost
        /// The journal's ring was overwritten before the subscriber came.
        case overwritten
        /// The subscriber's cursor is ahead of the journal: it belongs to another plug. The range is
        /// everything before the next event, which the subscriber takes as its new beginning.
        case unknownCursor
        /// The plug cannot rely on its flash: it went on at a number that it cannot have used before.
        case storageFailed
        /// The plug was set back to factory state and forgot what had happened.
        case factoryReset
        /// A reason that this version does not know.
        case unknown
    }

    public var from: SequenceNumber
    public var to: SequenceNumber
    public var reason: Reason

    public init(from: SequenceNumber, to: SequenceNumber, reason: Reason) {
        self.from = from
        self.to = to
        self.reason = reason
    }
}
