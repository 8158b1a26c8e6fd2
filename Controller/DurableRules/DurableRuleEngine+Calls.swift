import Automation
import PlugModel
import ProtocolCore
public import RuleModel

/// Calls of scripts. A call is stored before it is made. If this process is killed, the next one makes it again. The
/// removal of an answered call is stored together with its results.
extension DurableRuleEngine {
    /// Returns the script's last state as JSON, for a process that starts to run the script; nil if no state is stored.
    public func scriptState(of script: String) -> String? { memory.script(named: script)?.state }

    /// The known plugs as scripts see them: by the last name of each, and by earlier names that are bound to it. A
    /// paired plug that was never present is included as disconnected.
    public var views: [PlugView] {
        let names = Set(memory.plugs.map(\.name))
        let bound = Dictionary(grouping: memory.names.plugs.filter { !names.contains($0.key) }, by: \.value)
        // A paired plug that was never present keeps its name, so that a script never finds a different plug under this
        // name.
        let met = Set(memory.plugs.map(\.id))
        let unmet = (paired?.names ?? [:]).filter { !met.contains($0.key) && !names.contains($0.value) }.values.sorted()
        return unmet.map { PlugView(name: $0, isConnected: false) }
            + memory.plugs.flatMap { plug in
                let view =
                    engine.index(of: plug.name).map { engine.view(of: $0) }
                    ?? PlugView(name: plug.name, isConnected: false)
                let others = bound[plug.id, default: []].map(\.key).sorted()
                return [view]
                    + others.map { name in
                        var other = view
                        other.name = name
                        return other
                    }
            }
    }

    mutating func ask(_ call: ScriptCall, now: Instant) -> [Action] {
        let told = Action.tell(.calling(call))
        let script = call.handler.script
        guard memory.calls.hasRoom(for: script) else {
            let words =
                "too many events are waiting for \(script): \(memory.calls.count(of: script)) calls are unanswered"
            return [told, .tell(.callFailed(call, words))]
        }
        guard memory.calls.append(StoredRuleState.Call(call: call, until: now + ScriptLimits.patience)) else {
            return []
        }
        return [told, .call(call, plugs: [])]
    }

    /// Handles the end of the write that stored a call.
    mutating func askedIsStored(_ call: ScriptCall, _ actions: inout [Action]) {
        // The call may have been cancelled meanwhile.
        guard memory.calls[call.id] != nil else { return }
        lines[call.handler.script, default: ScriptCallQueue()].add(call.id)
        // Until the calls of an earlier process are resumed, new calls wait.
        if resumable.isEmpty { callNext(of: call.handler.script, &actions) }
    }

    /// Resumes the calls of an earlier process after the startup grace period. Calls of a script that is not loaded
    /// wait for the script until they expire.
    mutating func resumeCalls(now: Instant, _ actions: inout [Action]) {
        guard !resumable.isEmpty, assembly == nil else { return }
        let calls = resumable.compactMap { memory.calls[$0]?.call }
        resumable = []
        let handlers = Dictionary(rules.map { ($0.name, $0.handlers) }) { first, _ in first }
        var order: [String] = []
        var waiting: [String: [RequestID]] = [:]
        for call in calls {
            let isThere = handlers[call.firing.rule]?.contains(call.handler) ?? false
            guard isThere || !scripts.contains(call.handler.script) else {
                giveUp(call, Self.ruleChanged, now: now, &actions)
                continue
            }
            if waiting[call.handler.script] == nil { order.append(call.handler.script) }
            waiting[call.handler.script, default: []].append(call.id)
        }
        for (script, ids) in waiting { lines[script, default: ScriptCallQueue()].addAhead(ids) }
        let others = lines.keys.filter { waiting[$0] == nil }.sorted()
        for script in order + others { callNext(of: script, &actions) }
    }

    private mutating func callNext(of script: String, _ actions: inout [Action]) {
        guard scripts.contains(script) else { return }
        let calls = memory.calls
        guard let id = lines[script]?.advance(where: { calls[$0] != nil }), let call = calls[id]?.call else {
            if lines[script]?.isEmpty ?? false { lines[script] = nil }
            return
        }
        actions.append(.call(call, plugs: views))
    }

    // MARK: Answers

    mutating func finish(_ id: RequestID, _ outcome: ScriptOutcome, now: Instant, _ actions: inout [Action]) {
        guard let call = memory.calls.remove(id)?.call else { return }
        changed(now: now)
        let script = call.handler.script
        _ = lines[script]?.end(id)
        switch outcome {
        case .answered(let answer):
            sendLog(answer.log, of: call, now: now)
            if let fault = fault(in: answer, of: script) {
                // The script's process must end, because its state already includes the results of the rejected call.
                actions.append(.withdraw(id))
                onceStored(.tell(.callFailed(call, fault)), now: now)
            } else {
                onceStored(.tell(.called(call)), now: now)
                carryOut(answer, of: call, now: now, &actions)
            }
        case .failed(let why, let log):
            sendLog(log, of: call, now: now)
            onceStored(.tell(.callFailed(call, why)), now: now)
        }
        callNext(of: script, &actions)
    }

    /// Returns the reason in words why the answer is rejected; nil if it is valid.
    private func fault(in answer: ScriptAnswer, of script: String) -> String? {
        guard memory.hasRoom(for: script, running: scripts) else {
            return "\(memory.scripts.count) scripts already have stored state, which is the maximum"
        }
        return answer.fault(for: memory.script(named: script))
    }

    private mutating func sendLog(_ lines: [String], of call: ScriptCall, now: Instant) {
        guard !lines.isEmpty else { return }
        let short = lines.prefix(ScriptLimits.logLines).map { $0.cut(to: ScriptLimits.logLineSize) }
        onceStored(.tell(.scriptLogged(call.firing, short)), now: now)
    }

    private mutating func carryOut(
        _ answer: ScriptAnswer, of call: ScriptCall, now: Instant, _ actions: inout [Action]
    ) {
        let script = call.handler.script
        var wanted = answer.actions
        var tooMany = 0
        if !answer.timers.isEmpty || answer.state != nil || !wanted.isEmpty {
            memory.change(script, running: scripts) { kept in
                for timer in answer.timers { kept.change(timer, startedBy: call.id, now: now) }
                if let state = answer.state { kept.state = state }
                var budget = CommandBudget(spent: kept.commands)
                (wanted, tooMany) = budget.take(wanted, now: now)
                kept.commands = budget.spent
            }
            if !answer.timers.isEmpty { findTimerDeadline() }
        }
        if tooMany > 0 {
            limits.holdBack(tooMany, of: script)
            reportHeldBack(now: now, &actions)
        }
        if now - began >= RuleEngine.reunion { engine.expectPlugs([String]()) }
        if !wanted.isEmpty { run(.scriptAnswered(call, wanted), now: now, &actions) }
    }

    // MARK: Ends

    static let ruleChanged = "its rule was changed or removed"

    /// Handles a change of the rules. A call continues if the rule of that name still has the same triggers and calls a
    /// function of the same script. The function's place may have changed. Calls of a script that is not loaded are
    /// checked when it returns, because its file may be invalid for a while.
    mutating func followCalls(changedFrom old: [Rule], now: Instant, _ actions: inout [Action]) {
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let after = Dictionary(rules.map { ($0.name, $0) }) { first, _ in first }
        for call in memory.calls.elements.map(\.call) {
            let (old, new) = (before[call.firing.rule], after[call.firing.rule])
            if !scripts.contains(call.handler.script) {
                takeBack(call, &actions)
            } else if let handler = new?.handler(of: call, before: old) {
                guard handler != call.handler else { continue }
                memory.calls.move(call.id, to: handler)
                takeBack(call, &actions)
            } else {
                giveUp(call, Self.ruleChanged, now: now, &actions)
            }
        }
        guard resumable.isEmpty else { return }
        for script in lines.keys.sorted() { callNext(of: script, &actions) }
    }

    /// Withdraws a call in progress and puts it back to the front of the queue. Does nothing for a call that is not in
    /// progress.
    private mutating func takeBack(_ call: ScriptCall, _ actions: inout [Action]) {
        guard lines[call.handler.script]?.end(call.id) ?? false else { return }
        lines[call.handler.script]?.addAhead([call.id])
        actions.append(.withdraw(call.id))
    }

    /// Cancels the calls to which the predicate applies.
    mutating func giveUpCalls(
        _ why: String, now: Instant, _ actions: inout [Action], where isGivenUp: (ScriptCall) -> Bool
    ) {
        for waiting in memory.calls.elements where isGivenUp(waiting.call) {
            giveUp(waiting.call, why, now: now, &actions)
        }
    }

    private mutating func giveUp(_ call: ScriptCall, _ why: String, now: Instant, _ actions: inout [Action]) {
        guard memory.calls.remove(call.id) != nil else { return }
        changed(now: now)
        let isUnderWay = lines[call.handler.script]?.end(call.id) ?? false
        if isUnderWay { actions.append(.withdraw(call.id)) }
        // Reported after the removal is stored. Otherwise the next process could make the call again.
        onceStored(.tell(.callFailed(call, why)), now: now)
        if isUnderWay { callNext(of: call.handler.script, &actions) }
    }

    mutating func expireCalls(now: Instant, _ actions: inout [Action]) {
        let seconds = ScriptLimits.patience.components.seconds
        while let first = memory.calls.first, first.until <= now {
            let isUnderWay = lines[first.call.handler.script]?.asked == first.call.id
            let words =
                if isUnderWay {
                    "it did not answer within \(seconds) s"
                } else if !scripts.contains(first.call.handler.script) {
                    "its script was not available within \(seconds) s"
                } else if resumable.isEmpty {
                    "it could not be called within \(seconds) s because earlier calls took too long"
                } else {
                    "the daemon was not running in time to call it"
                }
            giveUp(first.call, words, now: now, &actions)
        }
    }
}

extension Rule {
    /// Returns the function for a stored call whose rule was replaced; nil if the new rule is unrelated. Without the
    /// old rule, the function is found by its script and place.
    fileprivate func handler(of call: ScriptCall, before old: Rule?) -> ScriptHandler? {
        guard let old else { return handlers.first { $0 == call.handler } }
        guard old.triggers == triggers, old.handlers.contains(call.handler) else { return nil }
        return handlers.first { $0.script == call.handler.script }
    }
}

extension String {
    /// The text, cut to at most `size` bytes at a boundary of Unicode scalars.
    fileprivate func cut(to size: Int) -> String {
        guard utf8.count > size else { return self }
        var end = utf8.index(startIndex, offsetBy: size)
        while !unicodeScalars.indices.contains(end), end > startIndex { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
