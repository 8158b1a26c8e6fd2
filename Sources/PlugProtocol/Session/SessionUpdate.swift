public import PlugModel

/// What a session has to tell the controller, in the order in which it happened.
public enum SessionUpdate: Hashable, Sendable {
    /// The plug accepted the session.
    case welcomed(PlugDescription)
    /// The event lane goes on after `gap`; `next` is the number of the next new event. Also comes unasked, with a gap, when
    /// the plug's journal overtook this session.
    case subscribed(next: SequenceNumber, gap: Gap?)
    /// The state when the state lane opened.
    case snapshot(PlugState)
    /// `age`: how long ago it happened; nil where it happened in another boot, so that nobody knows.
    case event(PlugEvent, age: Duration?)
    /// An event that this version cannot read. It has happened, so the cursor moves past it.
    case unknownEvent(SequenceNumber)
    /// The newest state.
    case state(PlugState)
    case commandFinished(RequestID, CommandOutcome)
    /// The deadline passed without an answer: it may or may not have taken effect. The same request id may be sent again.
    case commandUnanswered(RequestID)
    /// One sample chunk of a fetch; empty where the plug has nothing in the range.
    case samples(fetch: UInt32, chunk: [UInt8], last: Bool)
    /// Too many fetches run already; try again when one has ended.
    case fetchRefused(UInt32)
    /// Who is paired with the plug, in the order in which they were.
    case controllers([PairedControllerEntry])
    /// For so long somebody can pair with the code of the invitation.
    case invited(for: Duration)
    /// The invitations that have been neither used nor ended, oldest first.
    case invitations([OpenInvitation])
    /// The plug has another setup code.
    case codeChanged
    /// The plug's HomeKit door as it stands.
    case homeKit(HomeKitReport)
    /// The key that the plug will have; to be stored, and confirmed.
    case nextKey(PublicKey)
    /// The plug knows the key that this controller announced.
    case keyAccepted
    /// The plug does not do what was asked; the message by its name in the .proto.
    case requestRefused(String, Refusal)
    /// The plug's service instance name, or its settings, are no longer what ``PlugDescription`` says.
    case described(name: String, given: String, RemoteSettings?)
    /// A line of the plug's log, or how it stands with them.
    case log(LogUpdate)
    /// A part of the plug's audit log, or why there is none.
    case audit(Result<AuditPage, Refusal>)
    /// The last update of a session. The outcome of commands still open is unknown.
    case ended(EndReason)
}
