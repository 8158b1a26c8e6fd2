public import LinuxSystem
public import PlugModel

/// An entry of a plug's event journal. Entries are in order and each is delivered once; missing events are reported as
/// a gap.
public enum JournalEntry: Hashable, Sendable {
    /// The first entry when following begins with ``Cursor/now``: later entries have higher numbers. A caller can store
    /// the cursor before the first event.
    case began(after: SequenceNumber)
    /// An event. `age` is the time between the event and its arrival; nil if the event happened in an earlier boot of
    /// the plug, because its age is then unknown. `at` is the time of the event on the controller's wall clock, or the
    /// time of arrival if the age is unknown.
    case event(PlugEvent, age: Duration?, at: WallTime)
    /// Events that the plug cannot deliver, and the reason.
    case gap(Gap)

    /// The number up to which all events are processed once this entry has taken effect. Store it together with the
    /// effect, and continue with ``Cursor/after(_:)``.
    public var sequence: SequenceNumber {
        switch self {
        case .began(let sequence): sequence
        case .event(let event, age: _, at: _): event.sequence
        case .gap(let gap): gap.to
        }
    }
}
