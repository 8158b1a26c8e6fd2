public import LinuxClocks
public import PlugModel

/// What a plug's journal tells a follower, in order and each once: nothing is left out without an entry that says so.
public enum JournalEntry: Hashable, Sendable {
    /// Following began with ``Cursor/now``, and that is after this event; nothing has happened yet. It comes first, so that
    /// the cursor can be kept from the start.
    case began(after: SequenceNumber)
    /// `age`: how long ago it happened when it arrived; nil where it happened before the plug lost its power, so that nobody
    /// knows. `at`: when that was by the controller's wall clock; where the age is unknown, when it arrived.
    case event(PlugEvent, age: Duration?, at: WallTime)
    /// Events that the plug cannot deliver, and why.
    case gap(Gap)

    /// Everything up to this number is accounted for once the entry has taken its effect: keep it together with the effect,
    /// and go on with ``Cursor/after(_:)``.
    public var sequence: SequenceNumber {
        switch self {
        case .began(let sequence): sequence
        case .event(let event, age: _, at: _): event.sequence
        case .gap(let gap): gap.to
        }
    }
}
