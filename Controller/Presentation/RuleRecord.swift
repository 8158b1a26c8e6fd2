import Automation
public import Daemon
import DurableRules
import LinuxSystem
import PlugModel

/// One line of `plugctl daemon --json` and `plugctl rules run --json`.
///
/// After a crash of the daemon, the next process may print a line again; `cause` and `seq` identify duplicates.
public struct RuleRecord: Codable, Hashable, Sendable {
    /// The kind of the record:
    /// - house: following, lost, gap, renamed
    /// - rules: firing, heldBack, nearMiss, step (progress of its actions), ruleEnabled
    /// - actions: commanded, remembered (for a plug that is away), notSent, resumed, command (the plug's answer),
    ///   performing (an effect), effect (its result)
    /// - scripts: calling (a function), called, scriptLog, callFailed, scriptEnded (its process ended), scriptRuns (its
    ///   process started), commandsHeldBack, timersHeldBack
    /// - files: rulesChanged, fileBroken, fileSound
    /// - the daemon's storage: notStored, storedInReserve (in a file that was allocated in advance, because the disk
    ///   accepts no writes), stored (writes are possible again)
    /// - the output itself: recordsLeftOut (lines that were dropped because the output was not read)
    public var event: String
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// The plug of the record: for a firing the plug of the event, for a command its receiver.
    public var plug: String?
    /// The name of the rule.
    public var rule: String?
    /// firing, resumed, remembered: the cause; heldBack: the cause and the reason; gap, nearMiss, notSent, command,
    /// effect, callFailed, scriptEnded, fileBroken, notStored, storedInReserve: the reason.
    public var why: String?
    /// commanded, remembered, performing, effect: the action in words; step: the progress in words.
    public var what: String?
    /// The number of the journal event that caused this record.
    public var cause: UInt64?
    /// following: the number of plugs.
    public var plugs: Int?
    /// command: done or the refusal's code; effect: done or failed.
    public var outcome: String?
    /// command: the number of the event that records the command.
    public var seq: UInt64?
    /// gap: the number of the first lost event.
    public var from: UInt64?
    /// gap: the number of the last lost event.
    public var to: UInt64?
    /// performing, effect: notify, run, webHook or wake.
    public var effect: String?
    /// performing, effect of a notification: its title.
    public var title: String?
    /// performing, effect of a notification: its text.
    public var message: String?
    /// performing, effect, firing, calling, called, callFailed: 32 hexadecimal digits, identical in all records of the
    /// same action, firing or call; renamed: the plug's id.
    public var id: String?
    /// renamed: the previous name of the plug.
    public var before: String?
    /// nearMiss: the seconds for which the threshold was crossed.
    public var lasted: Double?
    /// ruleEnabled: true if the rule is enabled now.
    public var enabled: Bool?
    /// rulesChanged: the names of changed, new and removed rules; renamed: the rules that still use the previous name
    /// for the plug.
    public var rules: [String]?
    /// fileBroken, fileSound: the path of the file.
    public var file: String?
    /// calling, called, scriptLog, callFailed, scriptEnded, scriptRuns, commandsHeldBack, timersHeldBack: the script's
    /// name.
    public var script: String?
    /// scriptLog: the script's output, one element per line.
    public var log: [String]?
    /// scriptEnded: the seconds until the script's restart; omitted if the script starts only after a change of its
    /// file.
    public var restartsIn: Double?
    /// commandsHeldBack, timersHeldBack, recordsLeftOut: the number of commands, timers or records.
    public var count: Int?

    /// Creates the record of a notice.
    public init(_ record: RunnerRecord) {
        event = ""
        at = record.at.iso8601()
        switch record.notice {
        case .following, .lost, .gap, .renamed, .notStored, .storedInReserve, .stored, .recordsLeftOut:
            takeHouse(record.notice)
        case .firing, .heldBack, .nearMiss, .step, .ruleEnabled: takeRule(record.notice)
        case .commanded, .remembered, .notSent, .resumed, .command: takeCommand(record.notice)
        case .performing(let request):
            event = "performing"
            describe(request)
        case .effect(let request, let outcome):
            event = "effect"
            describe(request)
            switch outcome {
            case .done: self.outcome = "done"
            case .reported(let result): (self.outcome, why) = ("done", result)
            case .failed(let words): (self.outcome, why) = ("failed", words)
            }
        case .rulesChanged(let names): (event, rules) = ("rulesChanged", names)
        case .fileBroken(let path, let words): (event, file, why) = ("fileBroken", path, words)
        case .fileSound(let path): (event, file) = ("fileSound", path)
        case .calling, .called, .scriptLogged, .callFailed, .commandsHeldBack, .timersHeldBack, .scriptEnded,
            .scriptRuns:
            takeScript(record.notice)
        }
    }

    private mutating func takeScript(_ notice: RuleNotice) {
        switch notice {
        case .calling(let call):
            event = "calling"
            describe(call)
        case .called(let call):
            event = "called"
            describe(call)
        case .scriptLogged(let firing, let lines):
            event = "scriptLog"
            describe(firing)
            (why, log) = (nil, lines)
            script = firing.rule.split(separator: ":").first.map(String.init)
        case .callFailed(let call, let reason):
            event = "callFailed"
            describe(call)
            why = reason
        case .commandsHeldBack(let name, let number): (event, script, count) = ("commandsHeldBack", name, number)
        case .timersHeldBack(let name, let number): (event, script, count) = ("timersHeldBack", name, number)
        case .scriptEnded(let name, why: let reason, restartsIn: let span):
            (event, script, why, restartsIn) = ("scriptEnded", name, reason, span?.inSeconds)
        case .scriptRuns(let name): (event, script) = ("scriptRuns", name)
        case .following, .lost, .gap, .renamed, .firing, .heldBack, .notSent, .nearMiss, .commanded, .performing,
            .remembered,
            .step,
            .effect, .ruleEnabled, .rulesChanged, .fileBroken, .fileSound, .resumed, .command, .notStored,
            .storedInReserve, .stored,
            .recordsLeftOut:
            break
        }
    }

    private mutating func describe(_ call: ScriptCall) {
        describe(call.firing)
        (script, why, id) = (call.handler.script, nil, call.id.hexadecimal)
    }

    private mutating func takeHouse(_ notice: RuleNotice) {
        switch notice {
        case .following(let count, let newest): (event, plugs, plug) = ("following", count, newest)
        case .lost(let name): (event, plug) = ("lost", name)
        case .gap(let name, let gap):
            event = "gap"
            (plug, from, to, why) = (name, gap.from, gap.to, gap.reason.rawValue)
        case .renamed(let name, let id, let before, let bound):
            (event, plug, self.id, self.before, rules) = ("renamed", name, id.rawValue, before, bound)
        case .notStored(let reason): (event, why) = ("notStored", reason)
        case .storedInReserve(let reason): (event, why) = ("storedInReserve", reason)
        case .stored: event = "stored"
        case .recordsLeftOut(let number): (event, count) = ("recordsLeftOut", number)
        case .firing, .heldBack, .notSent, .nearMiss, .commanded, .performing, .remembered, .step, .effect,
            .ruleEnabled, .rulesChanged, .fileBroken, .fileSound, .resumed, .command, .calling, .called, .scriptLogged,
            .callFailed, .commandsHeldBack, .timersHeldBack, .scriptEnded, .scriptRuns:
            break
        }
    }

    private mutating func takeRule(_ notice: RuleNotice) {
        switch notice {
        case .firing(let firing):
            event = "firing"
            describe(firing)
            id = firing.id.hexadecimal
        case .heldBack(let firing, let reason):
            event = "heldBack"
            describe(firing)
            why = "\(firing.cause); \(reason)"
        case .nearMiss(let miss):
            (event, rule, plug) = ("nearMiss", miss.rule, miss.plug)
            (why, lasted) = ("\(miss)", miss.lasted.inSeconds)
        case .step(let firing, let step):
            event = "step"
            describe(firing)
            (what, why) = ("\(step)", nil)
        case .ruleEnabled(let name, let isOn): (event, rule, enabled) = ("ruleEnabled", name, isOn)
        case .following, .lost, .gap, .renamed, .notSent, .commanded, .performing, .remembered, .effect, .rulesChanged,
            .fileBroken, .fileSound, .resumed, .command, .notStored, .storedInReserve, .stored, .calling, .called,
            .scriptLogged,
            .callFailed,
            .commandsHeldBack, .timersHeldBack, .scriptEnded, .scriptRuns, .recordsLeftOut:
            break
        }
    }

    private mutating func takeCommand(_ notice: RuleNotice) {
        switch notice {
        case .commanded(let request, let firing):
            event = "commanded"
            describe(firing)
            (plug, what, why) = (request.plug, request.command.inWords, nil)
        case .remembered(let command):
            event = "remembered"
            describe(command)
            (what, why) = (command.request.command.inWords, command.cause)
        case .notSent(let firing, let name, let reason):
            event = "notSent"
            describe(firing)
            (plug, why) = (name, "\(reason)")
        case .resumed(let command):
            event = "resumed"
            describe(command)
            why = command.cause
        case .command(let command, let result):
            event = "command"
            describe(command)
            switch result {
            case .done(_, event: let number): (outcome, seq) = ("done", number)
            case .refused(let refusal): (outcome, why) = (refusal.code.rawValue, refusal.detail)
            }
        case .following, .lost, .gap, .renamed, .firing, .heldBack, .nearMiss, .performing, .step, .effect,
            .ruleEnabled,
            .rulesChanged, .fileBroken, .fileSound, .notStored, .storedInReserve, .stored, .calling, .called,
            .scriptLogged, .callFailed,
            .commandsHeldBack, .timersHeldBack, .scriptEnded, .scriptRuns, .recordsLeftOut:
            break
        }
    }

    private mutating func describe(_ firing: Firing) {
        rule = firing.rule
        why = firing.cause.description
        cause = firing.cause.event
        plug = firing.cause.plug
    }

    private mutating func describe(_ command: StoredRuleState.Command) {
        plug = command.request.plug
        rule = command.rule
        cause = command.event
    }

    private mutating func describe(_ request: EffectRequest) {
        describe(request.firing)
        why = nil
        id = request.id.hexadecimal
        switch request.effect {
        case .notify(let title, let text):
            (effect, self.title, message) = ("notify", title, text)
            what = "notify: " + (title.isEmpty ? text : "\(title): \(text)")
        case .run(let words, _): (effect, what) = ("run", "run \(words.joined(separator: " "))")
        case .webHook(let hook): (effect, what) = ("webHook", hook.words)
        case .wake(let machine): (effect, what) = ("wake", "wake \(machine)")
        }
    }
}
