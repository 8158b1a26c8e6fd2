public import PlugModel

/// An update that a session delivers to its caller, in the order of arrival.
public enum SessionUpdate: Hashable, Sendable {
    /// The plug accepted the session.
    case welcomed(PlugDescription)
    /// The event lane continues after `gap`. `next` is the number of the next new event. Also delivered without a
    /// request, with a gap, when the plug's journal evicted events that it had not sent, or skipped numbers.
    case subscribed(next: SequenceNumber, gap: Gap?)
    /// The state at the opening of the state lane.
    case snapshot(PlugState)
    /// An event. `age` is the time since it happened, or nil if that is unknown because it happened in another boot.
    case event(PlugEvent, age: Duration?)
    /// An event of a later version. The cursor moves past it.
    case unknownEvent(SequenceNumber)
    /// The newest state.
    case state(PlugState)
    /// The plug answered a command.
    case commandFinished(RequestID, CommandOutcome)
    /// The deadline of a command passed without an answer. The command may or may not have been executed. The caller
    /// may send the same request id again.
    case commandUnanswered(RequestID)
    /// A sample chunk of a fetch. Empty if the plug has no samples in the range.
    case samples(fetch: UInt32, chunk: [UInt8], last: Bool)
    /// The fetch was not sent: too many are running, its id is in use, or its range is invalid.
    case fetchRefused(UInt32)
    /// The plug, or the session in its place, answered a request.
    case answer(ControllerAnswer)
    /// The plug's next key. The caller stores it and confirms it with ``ControllerRequest/nextKeyKept(_:)``.
    case nextKey(PublicKey)
    /// The service instance name, the given name and the settings of the plug after a change.
    case described(name: String, given: String, RemoteSettings?)
    /// An update of the log subscription.
    case log(LogUpdate)
    /// The session ended. This is the last update. The outcome of unanswered commands is unknown.
    case ended(EndReason)
}
