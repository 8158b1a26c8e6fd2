public import Automation
public import HouseCalendar
public import PlugModel
public import ProtocolCore
public import RuleModel

/// An input of ``DurableRuleEngine``. The order per plug is: connected, following, snapshot, then its other events.
public enum DurableRuleEvent: MachineEvent, Hashable, Sendable {
    /// The plug is connected under its announced name.
    case connected(plug: String, id: PlugID, boot: BootID)
    /// The ids and names of all paired plugs. Names bound to plugs that are no longer paired are released.
    case paired([PlugID: String])
    /// The plug's events follow, starting with the one after this number.
    case following(plug: String, after: SequenceNumber)
    /// The plug's state at the start of the subscription.
    case snapshot(plug: String, PlugState)
    /// A new state of the plug.
    case state(plug: String, PlugState)
    /// An event of the plug's journal. `age`: the time since the event; nil if it belongs to a different boot of the
    /// plug.
    case event(plug: String, PlugEvent, age: Duration?)
    /// The plug's events in the gap are lost.
    case gap(plug: String, Gap)
    /// The connection to the plug ended.
    case disconnected(plug: String)
    /// The plug is neither connected nor announced.
    case lost(plug: String)
    /// The result of ``DurableRuleAction/send(_:)``.
    case commandFinished(RequestID, CommandOutcome)
    /// See ``RuleEngineEvent/clockChanged(_:_:)``.
    case clockChanged(LocalTime, SunTimes)
    /// Replaces the rules.
    case rulesChanged([Rule])
    /// The user enabled or disabled a rule.
    case ruleEnabled(String, Bool)
    /// The user runs a rule's actions once.
    case ruleRun(String, id: RequestID)
    /// Samples that the plug measured earlier: see ``RuleEngineEvent/recorded(plug:_:)``.
    case recorded(plug: String, [RecordedPower])
    /// The effect has started. Until then it waited for earlier effects.
    case effectBegun(RequestID)
    /// The result of ``DurableRuleAction/perform(_:)``.
    case effectFinished(RequestID, EffectOutcome)
    /// The result of ``DurableRuleAction/call(_:plugs:)``. Ignored for a call that was cancelled or has expired.
    case callFinished(RequestID, ScriptOutcome)
    /// The write of ``DurableRuleAction/store(_:)`` succeeded.
    case stored
    /// The write of ``DurableRuleAction/store(_:)`` failed; `reason` in words.
    case storeFailed(reason: String)
    /// The process will end. No further input arrives except the end of a write, and all changes must be stored.
    case stopping
    /// The time of ``DurableRuleEngine/nextDeadline`` has come.
    case deadlineReached
}

/// An output of ``DurableRuleEngine``, for its shell.
public enum DurableRuleAction: Hashable, Sendable {
    /// Stores the memory in place of the previous one. The shell answers with `stored` or `storeFailed`. No second
    /// request comes before the answer.
    case store(StoredRuleState)
    /// Sends the command until it is answered. The shell reports the result.
    case send(CommandRequest)
    /// Stops the command or effect; its result is ignored. For a call, the script's process must end, because its state
    /// includes the call. The script's next process starts with ``DurableRuleEngine/scriptState(of:)``. The call may be
    /// requested again.
    case withdraw(RequestID)
    /// Performs the effect once. The shell reports the result.
    case perform(EffectRequest)
    /// Calls the script's function. The shell reports the result. Each script has one call at a time, in order. `plugs`
    /// is the present state of the plugs.
    case call(ScriptCall, plugs: [PlugView])
    /// Acknowledges all events of the plug up to this number. They have taken effect.
    case acknowledge(plug: String, SequenceNumber)
    /// Reports the notice to the user.
    case tell(RuleNotice)
}

/// A notice of running rules for the user.
public enum RuleNotice: Hashable, Sendable {
    /// A plug is followed from now on: its name, and the number of all followed plugs.
    case following(plugs: Int, newest: String)
    /// The plug is neither connected nor announced.
    case lost(plug: String)
    /// The plug's events in the gap are lost.
    case gap(plug: String, Gap)
    /// The plug was called `before`. `rules`: the rules that still use an earlier name of the plug. Such a name still
    /// means the plug.
    case renamed(plug: String, id: PlugID, before: String, rules: [String])
    /// A rule fired. Reported after it is stored, if the firing has commands, effects, calls or waits.
    case firing(Firing)
    /// An edge arrived, but the rule did not fire.
    case heldBack(Firing, HoldBack)
    /// An action did not become a command.
    case notSent(Firing, plug: String, UnsentReason)
    /// A threshold was crossed, but the dwell ended early.
    case nearMiss(NearMiss)
    /// A firing sends the command. Reported after it is stored.
    case commanded(CommandRequest, Firing)
    /// A firing performs the effect. Reported after it is stored.
    case performing(EffectRequest)
    /// The command is stored for an absent plug, in place of every earlier one.
    case remembered(StoredRuleState.Command)
    /// A change in the progress of a firing's actions.
    case step(Firing, RunStep)
    /// The effect ended.
    case effect(EffectRequest, EffectOutcome)
    /// A firing calls a script's function. Reported after it is stored.
    case calling(ScriptCall)
    /// The function has answered, and its requests are stored.
    case called(ScriptCall)
    /// The call failed, for the reason in words. None of its requests is carried out.
    case callFailed(ScriptCall, String)
    /// The lines that the function logged, even if it failed afterwards.
    case scriptLogged(Firing, [String])
    /// The number of the script's commands and effects that were dropped, because it already requested
    /// ``ScriptLimits/commands`` within a minute. Reported at most once per minute.
    case commandsHeldBack(script: String, count: Int)
    /// The number of the script's timers that have run out and wait, because ``ScriptLimits/commands`` of its timers
    /// already ended within a minute. Reported at most once per minute.
    case timersHeldBack(script: String, count: Int)
    /// The script's process has ended. `restartsIn` nil: it is not started again. Reported by the shell.
    case scriptEnded(script: String, why: String, restartsIn: Duration?)
    /// The script's process runs. Reported by the shell.
    case scriptRuns(script: String)
    /// The user enabled or disabled a rule. Reported after it is stored.
    case ruleEnabled(String, Bool)
    /// The rules were replaced. The value is the names of changed, new and removed rules.
    case rulesChanged([String])
    /// A rule file is invalid. Its last valid version stays active, if this process has read one. `words` is the
    /// reason, in several lines.
    case fileBroken(path: String, words: String)
    /// The rule file is valid again.
    case fileSound(path: String)
    /// An earlier process decided the command and may have sent it. It is sent again with the same id.
    case resumed(StoredRuleState.Command)
    /// The command ended: with the plug's answer, or with a refusal by this process.
    case command(StoredRuleState.Command, CommandOutcome)
    /// The memory cannot be stored. If the process is killed now, a command may be lost or an event handled twice.
    /// `reason` in words.
    case notStored(reason: String)
    /// The disk rejects writes, for the reason in words, and the memory is stored in a file that was allocated in
    /// advance. No data is lost.
    case storedInReserve(reason: String)
    /// The memory can be stored again.
    case stored
    /// The number of notices that were dropped because they were not consumed in time. Notices about scripts are
    /// dropped first, oldest first. Reported by the shell.
    case recordsLeftOut(Int)
}
