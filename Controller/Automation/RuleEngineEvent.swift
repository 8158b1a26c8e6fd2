public import HouseCalendar
public import PlugModel
public import ProtocolCore
public import RuleModel

/// An input of ``RuleEngine``. Plugs are identified by their announced names.
public enum RuleEngineEvent: MachineEvent, Hashable, Sendable {
    /// Replaces the rules. A rule that is equal to a previous one keeps its runtime state.
    case rulesChanged([Rule])
    /// The user enabled or disabled a rule. The setting survives restarts.
    case ruleEnabled(String, Bool)
    /// The user runs a rule's actions once, regardless of triggers and conditions.
    case ruleRun(String, id: RequestID)
    /// A plug is followed from now on; `state` is its snapshot. `boot`: the boot to which its times belong, if known.
    /// `id`: the plug's id, if known. `readingGap`: a longer silence interrupts a dwell.
    case plugAppeared(
        plug: String, state: PlugState, boot: BootID? = nil, id: PlugID? = nil,
        readingGap: Duration = RuleEngine.readingGap)
    /// The plug is no longer followed. Its events are not observed.
    case plugLost(plug: String)
    /// A reading: `activePower` in watts, `time` on the plug's clock. A snapshot reports the present state, not a
    /// change. For a reading that is not a snapshot, ``RuleEngine/read(_:activePower:time:now:)`` is equivalent and
    /// faster.
    case reading(plug: String, activePower: Double, time: Instant, isSnapshot: Bool)
    /// The value of the plug's energy counter.
    case energy(plug: String, milliwattHours: UInt64)
    /// The present state of relay and dimmer, from a state message of the plug. Events do not update this state,
    /// because the relay may have switched again before a delayed event arrives.
    case state(plug: String, on: Bool, level: DimLevel?)
    /// An entry of the plug's journal. `age`: the time since the event; nil if unknown, as for an event of a different
    /// boot.
    case happened(plug: String, PlugEvent, age: Duration?)
    /// The plug reports that its events up to this number are lost. The next event has the number after `to`. `to` may
    /// be lower than the number of an event that was already handled, if the plug could not store its events.
    case gap(plug: String, to: SequenceNumber)
    /// Samples that the plug measured earlier. They only feed the appliance detector and fire nothing.
    case recorded(plug: String, [RecordedPower])
    /// A command that was decided before the plug appeared is being sent. The action `toggle` assumes its result.
    case commandResumed(CommandRequest)
    /// The plug's answer to a command of ``RuleEngineAction/send(_:_:)``, or the refusal
    /// ``Refusal/Code/deadlinePassed`` if no answer arrived. Each command is finished exactly once.
    case commandFinished(plug: String, id: RequestID, outcome: CommandOutcome)
    /// The local clock was set or stepped, its time zone changed, or the sun's times of a new year are known. Before
    /// the first such event every time window is false.
    case clockChanged(LocalTime, SunTimes)
    /// A script's timer ran out, `age` ago. `startedBy`: the call that started it, from which the firing's id is
    /// derived, so that each process gives it the same id. A timer without a trigger is ignored.
    case timerEnded(ScriptTimer, startedBy: RequestID, age: Duration)
    /// The answer to a script call: the actions of the call's firing, in order. Their ids are derived from the call's
    /// id and their places. No action waits or calls a script.
    case scriptAnswered(ScriptCall, [RuleAction])
    /// The time of ``RuleEngine/nextDeadline`` has come.
    case deadlineReached
}

/// A recorded active power, at a time on the controller's clock. That clock is monotonic, so a change of the time zone
/// does not change the age of a sample.
public struct RecordedPower: Hashable, Sendable {
    /// The time on the controller's clock; negative before its start.
    public var milliseconds: Int64
    /// The active power in tenths of a watt.
    public var deciwatts: Int32

    /// Creates a sample.
    public init(milliseconds: Int64, deciwatts: Int32) {
        self.milliseconds = milliseconds
        self.deciwatts = deciwatts
    }

    /// The active power in watts.
    public var activePower: Double { Double(deciwatts) / 10 }
    /// The time on the controller's clock, clamped to the range of ``Instant``.
    public var time: Instant {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? (milliseconds < 0 ? .min : .max) : product)
    }
}

/// An output of ``RuleEngine``, for its shell.
public enum RuleEngineAction: Hashable, Sendable {
    /// A rule fired. Its actions follow, at once or after their waits.
    case fired(Firing)
    /// An edge arrived and the rule did not fire.
    case heldBack(Firing, HoldBack)
    /// The power crossed a threshold, but the dwell ended early: the power returned, or the plug was silent for too
    /// long. At most one per rule within ``RuleEngine/missInterval``.
    case nearMiss(NearMiss)
    /// A command for a present plug.
    case send(CommandRequest, Firing)
    /// An action of a firing that cannot become a command now.
    case notSent(Firing, plug: String, UnsentReason)
    /// A command to store for an absent plug, in place of every earlier one for that plug. It expires after the
    /// duration.
    case remember(CommandRequest, Firing, for: Duration)
    /// A notification, a program, a web hook, or magic packets that wake a machine.
    case effect(EffectRequest)
    /// A function of a script to call. The answer arrives as ``RuleEngineEvent/scriptAnswered(_:_:)``.
    case call(ScriptCall)
    /// A change in the progress of a firing's actions.
    case step(Firing, RunStep)
}

/// A command to send to a plug. Its `id` depends only on the edge, the rule, the place of the action in the rule and
/// the place of the plug in the action. For a command of a script, it depends only on the call's id, the place of the
/// action in the script's answer and the place of the plug in the action.
public struct CommandRequest: Hashable, Sendable {
    /// The id as a number. Only ``id`` converts it to bytes.
    package var key: UInt128
    /// The plug's announced name; for an absent plug the name as the rule writes it.
    public var plug: String
    /// The command, which does not depend on the plug's state.
    public var command: PlugCommand

    /// Creates a request.
    public init(id: RequestID, plug: String, command: PlugCommand) {
        self.init(key: id.key, plug: plug, command: command)
    }

    init(key: UInt128, plug: String, command: PlugCommand) {
        self.key = key
        self.plug = plug
        self.command = command
    }

    /// The id as bytes.
    public var id: RequestID {
        get { RequestID(key) }
        set { key = newValue.key }
    }
}

/// A notification, a program, a web hook, or magic packets that wake a machine. The request is stored before the effect
/// begins. If the process dies, the next process repeats the effect with the same `id`.
public struct EffectRequest: Hashable, Sendable {
    /// The kind of an effect with its content.
    public enum Effect: Hashable, Sendable {
        /// A notification with filled placeholders.
        case notify(title: String, text: String)
        /// A program with its arguments, killed after the timeout.
        case run([String], timeout: Duration)
        /// A request to a web server, with a filled body.
        case webHook(WebHook)
        /// Magic packets for the machine with this name.
        case wake(String)
    }

    /// The id. It depends only on the firing's id and the action's place in the rule, or on the script call's id and
    /// the action's place in the answer.
    public var id: RequestID
    /// The kind of the effect with its content.
    public var effect: Effect
    /// The firing whose action requested the effect.
    public var firing: Firing

    /// Creates a request.
    public init(id: RequestID, effect: Effect, firing: Firing) {
        self.id = id
        self.effect = effect
        self.firing = firing
    }
}

/// The result of an effect.
public enum EffectOutcome: Hashable, Sendable {
    /// The effect was performed.
    case done
    /// The effect was performed, with this result in words.
    case reported(String)
    /// The effect failed, with the reason in words.
    case failed(String)
}

/// One edge that matched one rule.
public struct Firing: Hashable, Sendable {
    /// The id as a number. Only ``id`` converts it to bytes.
    package var key: UInt128
    /// The rule's name.
    public var rule: String
    /// The edge, with its plug and value.
    public var cause: Cause
    /// The time of the decision, on the controller's clock.
    public var time: Instant
    /// The results of the rule's conditions, in order; empty if they were not evaluated.
    public var judged: [Bool] = []

    /// Creates a firing without condition results.
    public init(id: RequestID, rule: String, cause: Cause, time: Instant) {
        self.init(key: id.key, rule: rule, cause: cause, time: time)
    }

    init(key: UInt128, rule: String, cause: Cause, time: Instant) {
        self.key = key
        self.rule = rule
        self.cause = cause
        self.time = time
    }

    /// The firing's id, identical in every process for the same edge and rule.
    public var id: RequestID {
        get { RequestID(key) }
        set { key = newValue.key }
    }

    /// The edge that matched the rule, as data. Only `description` converts it to words.
    public struct Cause: Hashable, Sendable {
        /// The kind of a cause.
        public enum Source: Hashable, Sendable {
            /// A trigger of the rule. Indirect, so that a copy increments only one reference count. The engine creates
            /// it once for all firings of the trigger.
            indirect case trigger(Trigger)
            /// The user ran the rule by hand.
            case person
            /// The words in which an earlier process stored the cause.
            case told(String)
        }

        /// The kind of the cause.
        public var source: Source
        /// The announced name of the plug with the edge; nil if the cause has no plug.
        public var plug: String?
        /// The measured value: watts for power, Wh for energy. Nil if the cause has no value.
        public var value: Double?
        /// The number of the plug's event; nil if the cause is not an entry of a plug's journal.
        public var event: SequenceNumber?
        /// The age of the edge; nil if it is unknown or counts as zero.
        public var age: Duration?
        /// The time on the controller's clock at which the threshold was crossed, the plug was lost or returned, or the
        /// appliance's cycle began or ended. Nil for any other cause.
        public var since: Instant?

        /// Creates a cause.
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

/// The reason why an edge did not fire the rule.
public enum HoldBack: Hashable, Sendable {
    /// The first condition that was false. ``Firing/judged`` has all results.
    case condition(Condition)
    /// The rule fired recently; its cooldown ends at this time.
    case cooldown(until: Instant)
    /// The edge is older than the rule accepts. The age is nil if the edge belongs to a different boot of the plug.
    case old(age: Duration?)
    /// Earlier firings are not finished. The value is the number of the rule's unfinished firings. If the total limit
    /// ``RuleEngine/maximumRuns`` is reached, it is the number of all unfinished firings.
    case running(Int)
    /// The rule reached its rate limit, or the chain of rules that fire each other reached its maximum length. For a
    /// chain, the limit's span is zero.
    case limit(FiringLimit)
    /// The user disabled the rule.
    case disabled
}

/// A trigger that did not fire: it was armed and the power crossed its threshold, but the dwell ended early.
public struct NearMiss: Hashable, Sendable {
    /// The reason why the dwell ended early.
    public enum End: Hashable, Sendable {
        /// The power returned past the threshold; the value in watts.
        case wentBack(Double)
        /// The plug was silent for too long, or is absent.
        case silence
    }

    /// The rule's name.
    public var rule: String
    /// The trigger of the rule.
    public var trigger: Trigger
    /// The announced name of the plug.
    public var plug: String
    /// The time of the crossing on the controller's clock.
    public var since: Instant
    /// The time from the crossing to the end.
    public var lasted: Duration
    /// The reason why the dwell ended early.
    public var end: End

    /// Creates a near miss.
    public init(rule: String, trigger: Trigger, plug: String, since: Instant, lasted: Duration, end: End) {
        self.rule = rule
        self.trigger = trigger
        self.plug = plug
        self.since = since
        self.lasted = lasted
        self.end = end
    }
}

/// A step in the progress of a firing's actions.
public enum RunStep: Hashable, Sendable {
    /// The run waits until this time.
    case waiting(until: Instant)
    /// The run waits for the condition, at most until this time.
    case waitingFor(Condition, until: Instant)
    /// The condition did not become true in time. With ``RuleAction/Timeout/stop`` the run ends here.
    case timedOut(RuleAction.Timeout)
    /// No state is stored for the plug: no rule changed it, its state was already restored, or the relay was switched
    /// by other means after the change.
    case nothingToRestore(plug: String)
    /// All actions are carried out or on their way.
    case finished
    /// The run was cancelled; its remaining actions are dropped.
    case cancelled(RunEnd)

    /// The reason why a run was cancelled.
    public enum RunEnd: Hashable, Sendable {
        /// The rule fired again in restart mode.
        case restarted
        /// The rule was changed or removed.
        case ruleChanged
        /// The user disabled the rule.
        case disabled
        /// The wait ended more than ``RuleEngine/longestLate`` before the engine handled it, for example because the
        /// controller was down.
        case missed
    }
}

/// The reason why an action of a fired rule did not become a command.
public enum UnsentReason: Hashable, Sendable {
    /// No plug of that name is present, in any capitalization.
    case notPresent
    /// Several paired plugs have the name. Or several present plugs match except for capitals, and none matches
    /// exactly. The value is the names of these plugs.
    case ambiguous([String])
    /// The plug has no dimmer, so its level cannot be changed.
    case noLevel
}
