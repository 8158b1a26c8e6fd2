public import Automation
public import PlugModel
public import ProtocolCore
public import RuleModel

/// Builds traces from the notices of running rules: one per edge that matched a rule. A trace grows while its commands
/// are answered and its actions continue. The caller stores each returned trace in place of an earlier one with the
/// same id.
public struct TraceRecorder: Sendable {
    /// The maximum number of firings whose traces may still change. A limit is necessary because no notice is marked as
    /// the last one of its firing. Above the limit, the recorder drops a firing with neither open steps nor a wait. If
    /// no such firing exists, it drops a firing without a wait, and otherwise any firing. Among several such firings,
    /// it drops the firing whose last change is the oldest.
    public static let openLimit = 256

    /// The rules' conditions in words, by rule name. A firing only contains their results.
    private var conditions: [String: [String]] = [:]
    /// The traces that may still change, in the order of their last change, newest last.
    private var open: [RuleTrace] = []

    /// Creates a recorder.
    ///
    /// - Parameter resuming: the traces of an earlier process, newest last. Traces that can no longer change are
    ///   ignored.
    public init(rules: [Rule] = [], resuming: [RuleTrace] = []) {
        open = Array(resuming.filter { $0.outcome == .fired && !$0.isSettled }.suffix(Self.openLimit))
        follow(rules)
    }

    /// Sets the current rules.
    public mutating func follow(_ rules: [Rule]) {
        conditions = Dictionary(rules.map { ($0.name, $0.conditions.map { "\($0)" }) }) { first, _ in first }
    }

    /// Handles a notice.
    ///
    /// - Parameters:
    ///   - milliseconds: the time of the notice, in milliseconds since 1970.
    ///   - now: the same time on the clock of the firings.
    /// - Returns: the new or changed trace; nil if the notice belongs to no trace.
    public mutating func record(_ notice: RuleNotice, at milliseconds: Int64, now: Instant) -> RuleTrace? {
        switch notice {
        case .firing(let firing):
            if let known = change(firing, milliseconds, { _ in }) { return known }
            return begin(trace(of: firing, .fired, milliseconds))
        case .heldBack(let firing, let reason):
            var trace = trace(of: firing, .heldBack, milliseconds)
            trace.why = reason.words(of: firing)
            return trace
        case .nearMiss(let miss): return RuleTrace(miss, at: milliseconds)
        case .commanded(let request, let firing):
            return add(Self.step(request, milliseconds), to: firing, milliseconds, now)
        case .performing(let request):
            return add(Self.step(request, milliseconds), to: request.firing, milliseconds, now)
        case .notSent(let firing, let plug, let reason):
            var step = RuleTrace.Step(at: milliseconds, what: "command \(plug)", plug: plug)
            step.outcome = "not sent: \(reason)"
            return add(step, to: firing, milliseconds, now)
        case .step(let firing, let step): return add(step, to: firing, milliseconds, now)
        case .remembered(let command): return add(command, milliseconds)
        case .command(let command, let outcome): return answer(command.request.id, outcome.words, milliseconds)
        case .effect(let request, let outcome):
            if let known = answer(request.id, outcome.words, milliseconds) { return known }
            var step = Self.step(request, milliseconds)
            (step.answered, step.outcome) = (milliseconds, outcome.words)
            return add(step, to: request.firing, milliseconds, now)
        case .calling(let call): return add(Self.step(call, milliseconds), to: call.firing, milliseconds, now)
        case .called(let call): return answer(call.id, "done", milliseconds)
        case .callFailed(let call, let why):
            if let known = answer(call.id, "failed: \(why)", milliseconds) { return known }
            var step = Self.step(call, milliseconds)
            (step.answered, step.outcome) = (milliseconds, "failed: \(why)")
            return add(step, to: call.firing, milliseconds, now)
        case .scriptLogged(let firing, let lines):
            return lines.reduce(nil) { _, line in
                add(RuleTrace.Step(at: milliseconds, what: "log: \(line)"), to: firing, milliseconds, now)
            }
        case .following, .lost, .gap, .renamed, .resumed, .ruleEnabled, .rulesChanged, .fileBroken, .fileSound,
            .notStored, .storedInReserve, .stored, .commandsHeldBack, .timersHeldBack, .scriptEnded, .scriptRuns,
            .recordsLeftOut:
            return nil
        }
    }

    // MARK: Traces

    private func trace(of firing: Firing, _ outcome: RuleTrace.Outcome, _ milliseconds: Int64) -> RuleTrace {
        var trace = RuleTrace(
            id: firing.id.hexadecimal, rule: firing.rule, at: milliseconds, outcome: outcome, cause: "\(firing.cause)")
        trace.plug = firing.cause.plug
        // JSON has only finite numbers.
        trace.value = firing.cause.value.flatMap { $0.isFinite ? $0 : nil }
        trace.since = firing.cause.since.map {
            milliseconds - ($0.duration(to: firing.time).wholeNanoseconds / 1_000_000)
        }
        trace.conditions = zip(conditions[firing.rule] ?? [], firing.judged).map {
            RuleTrace.ConditionResult(condition: $0, held: $1)
        }
        return trace
    }

    private mutating func begin(_ trace: RuleTrace) -> RuleTrace {
        open.append(trace)
        if open.count > Self.openLimit {
            let others = open.indices.dropLast()
            let done = others.first { open[$0].isSettled } ?? others.first { open[$0].isWaiting != true }
            open.remove(at: done ?? 0)
        }
        return trace
    }

    /// Starts a partial trace of a firing that an earlier process reported, or whose trace was dropped. The history
    /// does not replace a stored complete trace with a partial one.
    private mutating func beginPart(_ firing: Firing, _ milliseconds: Int64, _ now: Instant) -> RuleTrace {
        let age = max(0, firing.time.duration(to: now).wholeNanoseconds / 1_000_000)
        var trace = trace(of: firing, .fired, milliseconds - age)
        trace.isPart = true
        return begin(trace)
    }

    /// - Returns: nil for an unknown firing.
    private mutating func change(
        _ firing: Firing, _ milliseconds: Int64, _ change: (inout RuleTrace) -> Void
    ) -> RuleTrace? {
        let id = firing.id.hexadecimal
        guard let index = open.lastIndex(where: { $0.id == id }) else { return nil }
        return touch(index, change)
    }

    private mutating func touch(_ index: Int, _ change: (inout RuleTrace) -> Void) -> RuleTrace {
        var trace = open.remove(at: index)
        change(&trace)
        open.append(trace)
        return trace
    }

    // MARK: Steps

    private mutating func add(
        _ step: RuleTrace.Step, to firing: Firing, _ milliseconds: Int64, _ now: Instant
    ) -> RuleTrace {
        if let known = change(firing, milliseconds, { $0.add(step) }) { return known }
        _ = beginPart(firing, milliseconds, now)
        return touch(open.count - 1) { $0.add(step) }
    }

    private mutating func add(
        _ step: RunStep, to firing: Firing, _ milliseconds: Int64, _ now: Instant
    ) -> RuleTrace {
        func note(_ trace: inout RuleTrace) {
            if step != .finished { trace.add(RuleTrace.Step(at: milliseconds, what: "\(step)", plug: step.plug)) }
            switch step {
            case .waiting, .waitingFor: trace.isWaiting = true
            case .nothingToRestore: break
            case .timedOut(.goOn): trace.isWaiting = nil
            case .timedOut(.stop), .finished, .cancelled:
                trace.isWaiting = nil
                trace.finished = milliseconds
            }
        }
        if let known = change(firing, milliseconds, note) { return known }
        _ = beginPart(firing, milliseconds, now)
        return touch(open.count - 1, note)
    }

    /// Adds a command that waits for its plug. The notice of the command follows directly after that of its firing, so
    /// the rule's newest trace belongs to this firing.
    private mutating func add(_ command: StoredRuleState.Command, _ milliseconds: Int64) -> RuleTrace? {
        if let known = keep(command.request.id) { return known }
        guard let index = open.lastIndex(where: { $0.rule == command.rule }) else { return nil }
        var step = Self.step(command.request, milliseconds)
        step.what += Self.kept
        return touch(index) { $0.add(step) }
    }

    /// Marks a reported command as waiting for its plug.
    ///
    /// - Returns: nil for an unknown command.
    public mutating func keep(_ command: RequestID) -> RuleTrace? {
        guard let place = place(of: command) else { return nil }
        return touch(place.trace) { $0.steps[place.step].what += Self.kept }
    }

    private static let kept = ", once the plug is back"

    private mutating func answer(_ id: RequestID, _ words: String, _ milliseconds: Int64) -> RuleTrace? {
        guard let place = place(of: id) else { return nil }
        return touch(place.trace) { trace in
            trace.steps[place.step].answered = milliseconds
            trace.steps[place.step].outcome = words
        }
    }

    private func place(of id: RequestID) -> (trace: Int, step: Int)? {
        let id = id.hexadecimal
        for index in open.indices.reversed() {
            if let step = open[index].steps.lastIndex(where: { $0.id == id }) { return (index, step) }
        }
        return nil
    }

    private static func step(_ request: CommandRequest, _ milliseconds: Int64) -> RuleTrace.Step {
        RuleTrace.Step(
            at: milliseconds, what: request.words, id: request.id.hexadecimal, plug: request.plug)
    }

    private static func step(_ call: ScriptCall, _ milliseconds: Int64) -> RuleTrace.Step {
        RuleTrace.Step(at: milliseconds, what: "\(call.handler)", id: call.id.hexadecimal)
    }

    private static func step(_ request: EffectRequest, _ milliseconds: Int64) -> RuleTrace.Step {
        RuleTrace.Step(at: milliseconds, what: request.effect.words, id: request.id.hexadecimal)
    }
}
