public import PlugProtocol
public import ProtocolCore

/// What happens to a ``RuleEngine``. Plugs go by the names that they announce.
public enum RuleEngineEvent: MachineEvent, Hashable, Sendable {
    /// A plug is followed from now on, and this is its snapshot. `boot`: the boot that its times belong to, where known;
    /// `id`: the plug's own, where known.
    case plugAppeared(plug: String, state: PlugState, boot: BootID? = nil, id: PlugID? = nil)
    /// The plug is no longer followed: what happens at it is not seen.
    case plugLost(plug: String)
    /// `activePower` in watts, `time` on the plug's clock. A snapshot says what is, not what became.
    case reading(plug: String, activePower: Double, time: Instant, isSnapshot: Bool)
    /// What the relay is now, from the state lane. Events do not say it: one that comes late tells of a relay that may have
    /// moved on since.
    case relay(plug: String, on: Bool)
    /// The event came that a command caused.
    case commandRecorded(plug: String, id: RequestID)
    /// `age`: how long ago it happened; nil: unknown, from another boot.
    case buttonPressed(plug: String, press: ButtonPress, sequence: SequenceNumber, age: Duration?)
    /// A command decided before the plug appeared is on its way to it: toggle reckons with its result.
    case commandResumed(CommandRequest)
    /// The plug's answer to a command of ``RuleEngineAction/send(_:)``, or that it did not answer
    /// (``Refusal/Code/deadlinePassed``). Every command is finished once.
    case commandFinished(plug: String, id: RequestID, outcome: CommandOutcome)
    /// The local wall clock was set, stepped, or its zone changed. Until the first one no time window holds.
    case localTimeChanged(LocalTime)
    case deadlineReached
}

/// What a ``RuleEngine`` asks of its shell.
public enum RuleEngineAction: Hashable, Sendable {
    /// A rule fired; its commands follow.
    case fired(Firing)
    /// An edge came and the rule did not fire.
    case heldBack(Firing, HoldBack)
    case send(CommandRequest)
    /// Part of a fired rule that cannot be a command now.
    case notSent(Firing, plug: String, UnsentReason)
}

/// A command on its way to a plug. The same edge, rule and place in the rule always give the same `id`.
public struct CommandRequest: Hashable, Sendable {
    public var id: RequestID
    /// The plug's announced name.
    public var plug: String
    public var command: PlugCommand

    public init(id: RequestID, plug: String, command: PlugCommand) {
        self.id = id
        self.plug = plug
        self.command = command
    }
}

/// One edge that met one rule.
public struct Firing: Hashable, Sendable {
    /// The rule's name.
    public var rule: String
    public var cause: Cause
    /// When the engine decided it, on the controller's clock.
    public var time: Instant

    public init(rule: String, cause: Cause, time: Instant) {
        self.rule = rule
        self.cause = cause
        self.time = time
    }

    public enum Cause: Hashable, Sendable {
        /// `value`: the last reading, watts. `since`: when the threshold was crossed, on the plug's clock.
        case activePower(plug: String, PowerThreshold, value: Double, since: Instant)
        case button(plug: String, ButtonPress, sequence: SequenceNumber)
    }
}

/// Why a rule whose edge came did not fire.
public enum HoldBack: Hashable, Sendable {
    /// The first condition that did not hold.
    case condition(Condition)
    case cooldown(until: Instant)
    /// It happened longer ago than ``RuleEngine/maximumAge``; nil: in another boot of the plug, so nobody knows when.
    case old(age: Duration?)
}

/// Why an action of a fired rule became no command.
public enum UnsentReason: Hashable, Sendable {
    /// No plug of that name is there now, in any spelling of capitals.
    case notPresent
    /// Several plugs differ in capitals only, and none is spelled as in the rule.
    case ambiguous([String])
}
