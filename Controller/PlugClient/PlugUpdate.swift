public import PlugModel

/// An update of a followed plug. Updates are delivered in order.
public enum PlugUpdate: Sendable {
    /// A session began with this plug.
    case connected(PlugDescription)
    /// Following began with the plug's next event, as with ``Cursor/now``. All delivered events have numbers above
    /// `after`. This update arrives before the first event, so that the caller can store the cursor at once.
    case following(after: SequenceNumber)
    /// The state at the beginning of the subscription. It does not imply a change.
    case snapshot(PlugState)
    /// The newest state. Intermediate states may have been skipped.
    case state(PlugState)
    /// An event of the plug's journal. Events are in order, and each is delivered once. `age` is nil if the event
    /// happened in an earlier boot of the plug.
    case event(PlugEvent, age: Duration?)
    /// Events that the plug can no longer deliver.
    case gap(Gap)
    /// A line of the plug's log or the status of the subscription, after a call of ``FollowedPlug/followLog(_:for:)``.
    case log(LogUpdate)
    /// The connection ended or an attempt failed. The next attempt begins after `retryIn`.
    case disconnected(reason: Disconnection, retryIn: Duration)
}
