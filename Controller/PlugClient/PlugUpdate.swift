public import PlugModel

/// What is heard of a plug that is being followed, in order.
public enum PlugUpdate: Sendable {
    case connected(PlugDescription)
    /// Following began with ``Cursor/now``, and that is after this event. Comes before the first event, so that a cursor can
    /// be kept before anything has happened.
    case following(after: SequenceNumber)
    /// The state when the subscription began. Not an edge: nothing need have changed.
    case snapshot(PlugState)
    /// The newest state; what came between two of these was coalesced.
    case state(PlugState)
    /// Once for each event of the plug's journal, in order. `age` is nil when it happened in an earlier boot of the plug.
    case event(PlugEvent, age: Duration?)
    /// Events that were lost while nobody listened.
    case gap(Gap)
    /// A line of the plug's log, or how it stands with them, once ``FollowedPlug/followLog(_:for:)`` asked.
    case log(LogUpdate)
    case disconnected(reason: Disconnection, retryIn: Duration)
}
