public import PlugModel
public import ProtocolCore

/// What happens to a ``RuleEngine``. Plugs go by the names that they announce.
public enum RuleEngineEvent: MachineEvent, Hashable, Sendable {
    /// These rules from now on. One that is equal to a rule of before keeps what it was in the midst of.
    case rulesChanged([Rule])
    /// A person turns a rule off or on; it stays so over restarts.
    case ruleEnabled(String, Bool)
    /// A person runs a rule's actions once, whatever its triggers and conditions say.
    case ruleRun(String, id: RequestID)
    /// A plug is followed from now on, and this is its snapshot. `boot`: the boot that its times belong to, where known;
    /// `id`: the plug's own, where known; `readingGap`: longer silence than this interrupts a dwell.
    case plugAppeared(
        plug: String, state: PlugState, boot: BootID? = nil, id: PlugID? = nil,
        readingGap: Duration = RuleEngine.readingGap)
    /// The plug is no longer followed: what happens at it is not seen.
    case plugLost(plug: String)
    /// `activePower` in watts, `time` on the plug's clock. A snapshot says what is, not what became.
    /// ``RuleEngine/read(_:activePower:time:now:)`` is the same for one that is no snapshot, and faster.
    case reading(plug: String, activePower: Double, time: Instant, isSnapshot: Bool)
    /// The plug's energy counter.
    case energy(plug: String, milliwattHours: UInt64)
    /// What relay and dimmer are now, from the state lane. Events do not say it: one that comes late tells of a relay that may
    /// have moved on since.
    case state(plug: String, on: Bool, level: DimLevel?)
    /// An entry of the plug's journal. `age`: how long ago it happened; nil: unknown, from another boot.
    case happened(plug: String, PlugEvent, age: Duration?)
    /// The plug says up to where its events cannot be had, and its next one has the number after that: lower than those before
    /// where it could keep nothing.
    case gap(plug: String, to: SequenceNumber)
    /// What the plug measured before: it teaches what the appliance is doing, and fires nothing.
    case recorded(plug: String, [RecordedPower])
    /// A command decided before the plug appeared is on its way to it: toggle reckons with its result.
    case commandResumed(CommandRequest)
    /// The plug's answer to a command of ``RuleEngineAction/send(_:_:)``, or that it did not answer
    /// (``Refusal/Code/deadlinePassed``). Every command is finished once.
    case commandFinished(plug: String, id: RequestID, outcome: CommandOutcome)
    /// The local wall clock was set, stepped, or its zone changed, or a new year's sun is known. Until the first one no time
    /// window holds.
    case clockChanged(LocalTime, SunTimes)
    /// A script's timer ran out, `age` ago. `startedBy`: the call that started it, so that the same firing has the same id in every
    /// process. A timer of nobody's rules means nothing.
    case timerEnded(ScriptTimer, startedBy: RequestID, age: Duration)
    /// What a script's function asked for is to be done: the actions of the call's firing, in their order. Their ids follow from the
    /// call's, and differ by place. None of them waits or calls.
    case scriptAnswered(ScriptCall, [RuleAction])
    case deadlineReached
}

/// Active power, in tenths of a watt, at a time of the controller's clock in milliseconds, negative before it started: so how long
/// ago it was needs no time zone.
public struct RecordedPower: Hashable, Sendable {
    public var milliseconds: Int64
    public var deciwatts: Int32

    public init(milliseconds: Int64, deciwatts: Int32) {
        self.milliseconds = milliseconds
        self.deciwatts = deciwatts
    }

    /// Watts.
    public var activePower: Double { Double(deciwatts) / 10 }
    public var time: Instant {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? (milliseconds < 0 ? .min : .max) : product)
    }
}

/// What a ``RuleEngine`` asks of its shell.
public enum RuleEngineAction: Hashable, Sendable {
    /// A rule fired; what its actions ask for follows, at once or after they waited.
    case fired(Firing)
    /// An edge came and the rule did not fire.
    case heldBack(Firing, HoldBack)
    /// A threshold was crossed, and the power went back before the dwell was over.
    case nearMiss(NearMiss)
    case send(CommandRequest, Firing)
    /// Part of a fired rule that cannot be a command now.
    case notSent(Firing, plug: String, UnsentReason)
    /// A command for a plug that is away, in place of every earlier one for it. Not worth it any more after so long.
    case remember(CommandRequest, Firing, for: Duration)
    case effect(EffectRequest)
    /// A function of a script is to be called; ``RuleEngineEvent/scriptAnswered(_:_:)`` says what it wants.
    case call(ScriptCall)
    /// The actions of a firing go on.
    case step(Firing, RunStep)
}

/// A command on its way to a plug. The same edge, rule and place in the rule always give the same `id`.
public struct CommandRequest: Hashable, Sendable {
    /// The number that the id is: its bytes are made only where somebody asks for them.
    var key: UInt128
    /// The plug's announced name; as the rule writes it where the plug is away.
    public var plug: String
    public var command: PlugCommand

    public init(id: RequestID, plug: String, command: PlugCommand) {
        self.init(key: id.key, plug: plug, command: command)
    }

    init(key: UInt128, plug: String, command: PlugCommand) {
        self.key = key
        self.plug = plug
        self.command = command
    }

    public var id: RequestID {
        get { RequestID(key) }
        set { key = newValue.key }
    }
}

/// What a rule does outside of the house. Stored before it is begun; a process that dies meanwhile leaves it to the next one, with the
/// same `id`.
public struct EffectRequest: Hashable, Sendable {
    public enum Effect: Hashable, Sendable {
        /// With the placeholders filled in.
        case notify(title: String, text: String)
        case run([String], timeout: Duration)
        case webHook(WebHook)
    }

    public var id: RequestID
    public var effect: Effect
    public var firing: Firing

    public init(id: RequestID, effect: Effect, firing: Firing) {
        self.id = id
        self.effect = effect
        self.firing = firing
    }
}

/// How an effect ended.
public enum EffectOutcome: Hashable, Sendable {
    case done
    /// Why, in words.
    case failed(String)
}

/// One edge that met one rule.
public struct Firing: Hashable, Sendable {
    /// The number that the id is: its bytes are made only where somebody asks for them.
    var key: UInt128
    /// The rule's name.
    public var rule: String
    public var cause: Cause
    /// When the engine decided it, on the controller's clock.
    public var time: Instant
    /// Whether each of the rule's conditions held, in their order; empty where nobody asked them.
    public var judged: [Bool] = []

    public init(id: RequestID, rule: String, cause: Cause, time: Instant) {
        self.init(key: id.key, rule: rule, cause: cause, time: time)
    }

    init(key: UInt128, rule: String, cause: Cause, time: Instant) {
        self.key = key
        self.rule = rule
        self.cause = cause
        self.time = time
    }

    /// The same for the same edge and rule, also in another process.
    public var id: RequestID {
        get { RequestID(key) }
        set { key = newValue.key }
    }

    /// What met the rule. Words are made of it only where somebody reads them.
    public struct Cause: Hashable, Sendable {
        public enum Source: Hashable, Sendable {
            /// Indirect, so that copying it counts one reference, and the engine makes it once for all firings of a trigger.
            indirect case trigger(Trigger)
            /// Somebody ran it by hand.
            case person
            /// What an earlier process knew, in its words.
            case told(String)
        }

        public var source: Source
        /// The announced name of the plug whose edge it was.
        public var plug: String?
        /// W of a power, Wh of an energy.
        public var value: Double?
        /// The number of the event that it was.
        public var event: SequenceNumber?
        /// How long ago it had happened, where that was known and it was not now.
        public var age: Duration?
        /// When the threshold was crossed, or the cycle began or ended, on the controller's clock.
        public var since: Instant?

        public init(
            _ source: Source, plug: String? = nil, value: Double? = nil, event: SequenceNumber? = nil,
            age: Duration? = nil, since: Instant? = nil
        ) {
            self.source = source
            self.plug = plug
            self.value = value
            self.event = event
            self.age = age
            self.since = since
        }
    }
}

/// Why a rule whose edge came did not fire.
public enum HoldBack: Hashable, Sendable {
    /// The first condition that did not hold; ``Firing/judged`` has all of them.
    case condition(Condition)
    case cooldown(until: Instant)
    /// It happened longer ago than the rule takes; nil: in another boot of the plug, so nobody knows when.
    case old(age: Duration?)
    /// The actions of an earlier firing are not done, and so many wait or run already.
    case running(Int)
    /// It has fired so often already.
    case limit(FiringLimit)
    case disabled
}

/// A trigger that armed and was crossed, and did not fire since the dwell was cut short.
public struct NearMiss: Hashable, Sendable {
    public enum End: Hashable, Sendable {
        /// The power went back: its value, watts.
        case wentBack(Double)
        /// The plug said nothing for too long, or is away.
        case silence
    }

    public var rule: String
    public var trigger: Trigger
    /// The announced name.
    public var plug: String
    /// When it was crossed, on the controller's clock, and how long it held.
    public var since: Instant
    public var lasted: Duration
    public var end: End

    public init(rule: String, trigger: Trigger, plug: String, since: Instant, lasted: Duration, end: End) {
        self.rule = rule
        self.trigger = trigger
        self.plug = plug
        self.since = since
        self.lasted = lasted
        self.end = end
    }
}

/// How the actions of a firing go on.
public enum RunStep: Hashable, Sendable {
    case waiting(until: Instant)
    /// For the condition, but not longer.
    case waitingFor(Condition, until: Instant)
    /// What was waited for did not come in time. With ``RuleAction/Timeout/stop`` it is the run's end: nothing follows it.
    case timedOut(RuleAction.Timeout)
    /// Nothing is remembered of the plug, or somebody has switched it since.
    case nothingToRestore(plug: String)
    /// All actions are done, or on their way.
    case finished
    case cancelled(RunEnd)

    public enum RunEnd: Hashable, Sendable {
        /// The rule fired again, and its mode is restart.
        case restarted
        /// The rule was changed or taken away.
        case ruleChanged
        case disabled
        /// The controller was away when it should have gone on, for too long.
        case missed
    }
}

/// Why an action of a fired rule became no command.
public enum UnsentReason: Hashable, Sendable {
    /// No plug of that name is there now, in any spelling of capitals.
    case notPresent
    /// Several plugs differ in capitals only, and none is spelled as in the rule.
    case ambiguous([String])
    /// It has no dimmer, so that there is no level to change.
    case noLevel
}
