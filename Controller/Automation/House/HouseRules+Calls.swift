import PlugModel
import ProtocolCore

/// Calls of scripts: stored before they are asked, asked again by the next process where this one was killed, and stored as gone
/// together with all that came of them.
extension HouseRules {
    /// What the script set last, as JSON, for a process that begins to run it.
    public func scriptState(of script: String) -> String? { memory.script(named: script)?.state }

    /// The plugs that are known, as scripts see them, by the name that each had last, and by names of before that are bound to it.
    public var views: [PlugView] {
        let names = Set(memory.plugs.map(\.name))
        let bound = Dictionary(grouping: memory.names.plugs.filter { !names.contains($0.key) }, by: \.value)
        // A paired plug that was never present keeps its name: a script must not find a different plug under it.
        let met = Set(memory.plugs.map(\.id))
        let unmet = (paired?.names ?? [:]).filter { !met.contains($0.key) && !names.contains($0.value) }.values.sorted()
        return unmet.map { PlugView(name: $0, isConnected: false) }
            + memory.plugs.flatMap { plug in
                let view =
                    engine.index(of: plug.name).map { engine.view(of: $0.value) }
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
                "too many events wait for \(script): \(memory.calls.count(of: script)) of its calls are not answered"
            return [told, .tell(.callFailed(call, words))]
        }
        guard memory.calls.append(HouseMemory.Call(call: call, until: now + ScriptLimits.patience)) else { return [] }
        return [told, .call(call, plugs: [])]
    }

    /// The call is stored.
    mutating func askedIsStored(_ call: ScriptCall, _ actions: inout [Action]) {
        // It may have been given up meanwhile.
        guard memory.calls[call.id] != nil else { return }
        lines[call.handler.script, default: CallLine()].add(call.id)
        // What an earlier process left comes first.
        if resumable.isEmpty { callNext(of: call.handler.script, &actions) }
    }

    /// What an earlier process left, once the plugs are there of which the scripts ask. Calls of a script that is not there wait until it
    /// is, as long as they are worth an answer.
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
        for (script, ids) in waiting { lines[script, default: CallLine()].addAhead(ids) }
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
            tellLog(answer.log, of: call, now: now)
            if let fault = fault(in: answer, of: script) {
                // What its process remembers of it is not wanted either.
                actions.append(.withdraw(id))
                onceStored(.tell(.callFailed(call, fault)), now: now)
            } else {
                onceStored(.tell(.called(call)), now: now)
                carryOut(answer, of: call, now: now, &actions)
            }
        case .failed(let why, let log):
            tellLog(log, of: call, now: now)
            onceStored(.tell(.callFailed(call, why)), now: now)
        }
        callNext(of: script, &actions)
    }

    /// Why nothing of it is done, in words.
    private func fault(in answer: ScriptAnswer, of script: String) -> String? {
        guard memory.hasRoom(for: script, running: scripts) else {
            return "\(memory.scripts.count) scripts keep something already: there is room for no more"
        }
        return answer.fault(for: memory.script(named: script))
    }

    private mutating func tellLog(_ lines: [String], of call: ScriptCall, now: Instant) {
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
            heldBack[script, default: CommandsHeldBack()].count += tooMany
            tellHeldBack(now: now, &actions)
        }
        if now - began >= RuleEngine.reunion { engine.awaited = [] }
        if !wanted.isEmpty { run(.scriptAnswered(call, wanted), now: now, &actions) }
    }

    // MARK: Ends

    static let ruleChanged = "its rule was changed or taken away"

    /// The rules are others. A call goes on where its rule still waits for the same: by its name, in whatever place its function is now.
    /// Calls of a script that is not there now are judged when it is back: its file may be broken for a while.
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

    /// Where it is under way it is to be asked again, before the others.
    private mutating func takeBack(_ call: ScriptCall, _ actions: inout [Action]) {
        guard lines[call.handler.script]?.end(call.id) ?? false else { return }
        lines[call.handler.script]?.addAhead([call.id])
        actions.append(.withdraw(call.id))
    }

    /// Nobody wants what comes of these any more.
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
        // Not before: the next process would call it again.
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
                    "its script was not there to be called within \(seconds) s"
                } else if resumable.isEmpty {
                    "it could not be called within \(seconds) s: those before it took too long"
                } else {
                    "nobody was there to call it in time"
                }
            giveUp(first.call, words, now: now, &actions)
        }
    }
}

extension Rule {
    var handlers: [ScriptHandler] {
        actions.compactMap { if case .call(let handler) = $0 { handler } else { nil } }
    }

    /// What is to be called of this rule for a call of the rule of this name of before; nil where it is another one in truth. Of one
    /// that was not there before only the function's place is known.
    fileprivate func handler(of call: ScriptCall, before old: Rule?) -> ScriptHandler? {
        guard let old else { return handlers.first { $0 == call.handler } }
        guard old.triggers == triggers, old.handlers.contains(call.handler) else { return nil }
        return handlers.first { $0.script == call.handler.script }
    }
}

extension String {
    /// The first so many bytes of it, in whole characters.
    fileprivate func cut(to size: Int) -> String {
        guard utf8.count > size else { return self }
        var end = utf8.index(startIndex, offsetBy: size)
        while !unicodeScalars.indices.contains(end), end > startIndex { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
