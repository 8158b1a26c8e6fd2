public import PlugModel
public import ProtocolCore

/// What happens to ``HouseRules``. Of each plug in its order: connected, following, snapshot, then the rest.
public enum HouseRulesEvent: MachineEvent, Hashable, Sendable {
    case connected(plug: String, id: PlugID, boot: BootID)
    /// These plugs are paired, under these names. A name that is bound to a plug that is not paired any longer is free.
    case paired([PlugID: String])
    /// Events come from now on: the next one after this number.
    case following(plug: String, after: SequenceNumber)
    case snapshot(plug: String, PlugState)
    case state(plug: String, PlugState)
    /// `age` nil: it happened in another boot of the plug.
    case event(plug: String, PlugEvent, age: Duration?)
    case gap(plug: String, Gap)
    case disconnected(plug: String)
    /// It is no longer announced either.
    case lost(plug: String)
    /// How a command of ``HouseRulesAction/send(_:)`` ended.
    case commandFinished(RequestID, CommandOutcome)
    case clockChanged(LocalTime, SunTimes)
    /// The rules of the house from now on.
    case rulesChanged([Rule])
    /// A person turns a rule off or on.
    case ruleEnabled(String, Bool)
    /// A person runs a rule's actions once.
    case ruleRun(String, id: RequestID)
    /// What a plug measured before: see ``RuleEngineEvent/recorded(plug:_:)``.
    case recorded(plug: String, [RecordedPower])
    /// It was this one's turn: until then others were under way.
    case effectBegun(RequestID)
    /// How an effect of ``HouseRulesAction/perform(_:)`` ended.
    case effectFinished(RequestID, EffectOutcome)
    /// How a call of ``HouseRulesAction/call(_:plugs:)`` ended. One that was withdrawn is ignored.
    case callFinished(RequestID, ScriptOutcome)
    /// The write of ``HouseRulesAction/store(_:)`` has ended.
    case stored
    /// It has ended without the memory being on the disk; `reason` in words.
    case storeFailed(reason: String)
    /// Nothing more will come but the end of a write: what is not stored is to be stored.
    case stopping
    case deadlineReached
}

/// What ``HouseRules`` ask of their shell.
public enum HouseRulesAction: Hashable, Sendable {
    /// Store this in place of what was stored before, and answer with `stored` or `storeFailed`. Never a second one before.
    case store(HouseMemory)
    /// Send until it is answered, and say how it ended.
    case send(CommandRequest)
    /// Stop sending or performing it; nobody waits for how it ends any more. Of a call the script's process is to be ended, and the next
    /// one to begin with ``HouseRules/scriptState(of:)``: what this one remembers of the call is not wanted. The same call may be asked
    /// again afterwards.
    case withdraw(RequestID)
    /// Do it outside of the house, once, and say how it ended.
    case perform(EffectRequest)
    /// Call the script's function, and say how that ended. Of each script one at a time, in their order; `plugs` are as they are now.
    case call(ScriptCall, plugs: [PlugView])
    /// Every event of the plug up to this one has taken effect.
    case acknowledge(plug: String, SequenceNumber)
    case tell(HouseNotice)
}

/// What running rules have to tell a person.
public enum HouseNotice: Hashable, Sendable {
    case following(plugs: Int, newest: String)
    case lost(plug: String)
    case gap(plug: String, Gap)
    /// It was called `before`; these rules still say that, and mean it.
    case renamed(plug: String, id: PlugID, before: String, rules: [String])
    case firing(Firing)
    case heldBack(Firing, HoldBack)
    case notSent(Firing, plug: String, UnsentReason)
    case nearMiss(NearMiss)
    /// A firing commands it; told once it is stored.
    case commanded(CommandRequest, Firing)
    /// A firing does it outside of the house; told once it is stored.
    case performing(EffectRequest)
    /// The command is kept for a plug that is away, in place of every earlier one.
    case remembered(HouseMemory.Command)
    case step(Firing, RunStep)
    case effect(EffectRequest, EffectOutcome)
    /// A firing calls a script's function; told once it is stored.
    case calling(ScriptCall)
    /// Its function has ended, and what it asked for is stored.
    case called(ScriptCall)
    /// Why, in words. Nothing that it asked for is done.
    case callFailed(ScriptCall, String)
    /// What it wrote to its log meanwhile, line by line, also where it failed then.
    case scriptLogged(Firing, [String])
    /// So many commands and effects of the script were not carried out: it had asked for ``ScriptLimits/commands`` within a minute
    /// already. Told once a minute at most.
    case commandsHeldBack(script: String, count: Int)
    /// So many of the script's timers have run out and wait: ``ScriptLimits/commands`` have ended within a minute. Told once a minute at
    /// most.
    case timersHeldBack(script: String, count: Int)
    /// Its process has ended, which the shell tells; nil where it is not started again.
    case scriptEnded(script: String, why: String, restartsIn: Duration?)
    /// Its process runs, which the shell tells.
    case scriptRuns(script: String)
    case ruleEnabled(String, Bool)
    /// Rules were read anew: the names of those that changed, came or went.
    case rulesChanged([String])
    /// A rule file was changed and cannot be read: its last good version goes on. `words` say why, over several lines.
    case fileBroken(path: String, words: String)
    /// It can be read again.
    case fileSound(path: String)
    /// An earlier process decided it and may have sent it: it is sent again, with the same id.
    case resumed(HouseMemory.Command)
    case command(HouseMemory.Command, CommandOutcome)
    /// From here on a command may be lost, or an event be acted on twice, when the process is killed; `reason` in words.
    case notStored(reason: String)
    /// The disk refuses writes (`reason` in words), and the memory is in a file that was allocated in advance: nothing is lost.
    case storedInReserve(reason: String)
    /// It works again.
    case stored
    /// So many were not told, the oldest of what scripts do and say first: nobody took them, which the shell tells.
    case recordsLeftOut(Int)
}
