import Automation
import PlugModel
import ProtocolCore
import RuleModel

extension DurableRuleEngine {
    mutating func handle(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .connected(let plug, let id, let boot):
            settle(plug, now: now, &actions)
            present[plug] = Presence(id: id, boot: boot)
            let before = memory.plugs.last { $0.id == id }?.name
            memory.meet(id, plug)
            bindNames()
            if let before, before != plug { tellRenamed(id, from: before, to: plug, &actions) }
            changed(now: now)
        case .paired(let plugs):
            guard plugs != paired?.names else { return }
            let before = memory.names
            paired = PairedNames(plugs)
            _ = memory.names.keep(Set(plugs.keys))
            bindNames()
            if memory.names != before { changed(now: now) }
        case .following(let plug, let cursor):
            guard let id = present[plug]?.id else { return }
            move(id, to: cursor, now: now)
            // The cursor is stored at once. If this process is killed afterwards, the next one misses no event.
            storeRest(now: now)
        case .snapshot(let plug, let state): appear(plug, state, now: now, &actions)
        case .state(let plug, let state): read(plug, state, now: now, &actions)
        case .event(let plug, let event, let age):
            if assembly == nil {
                judge(event, of: plug, age: age, now: now, &actions)
            } else {
                assembly?.hold(event, of: plug, age: age, now: now)
            }
        case .gap(let plug, let gap):
            settle(plug, now: now, &actions)
            if let id = present[plug]?.id { move(id, to: gap.to, now: now) }
            run(.gap(plug: plug, to: gap.to), now: now, &actions)
            actions.append(.tell(.gap(plug: plug, gap)))
        case .disconnected(let plug):
            settle(plug, now: now, &actions)
            present[plug] = nil
            run(.plugLost(plug: plug), now: now, &actions)
        case .lost(let plug): actions.append(.tell(.lost(plug: plug)))
        case .recorded(let plug, let samples): run(.recorded(plug: plug, samples), now: now, &actions)
        case .commandFinished(let id, let outcome): finish(id, outcome, now: now, &actions)
        case .effectBegun(let id): effects.begin(id)
        case .effectFinished(let id, let outcome): finish(id, outcome, now: now, &actions)
        case .callFinished(let id, let outcome): finish(id, outcome, now: now, &actions)
        case .clockChanged(let time, let sun): run(.clockChanged(time, sun), now: now, &actions)
        case .rulesChanged, .ruleEnabled, .ruleRun: changeRules(event, now: now, &actions)
        case .stored: writeEnded(failure: nil, now: now, &actions)
        case .storeFailed(let reason): writeEnded(failure: reason, now: now, &actions)
        case .stopping: storeAll(now: now)
        case .deadlineReached: break
        }
        // While plugs are missing after a start, the engine's deadlines wait. Otherwise everything that is due runs.
        guard assembly == nil, let due = engine.nextDeadline, due <= now else { return }
        run(.deadlineReached, now: now, &actions)
    }

    private mutating func changeRules(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .rulesChanged(let new):
            let old = rules
            let changed = Rule.names(changedFrom: old, to: new)
            rules = new
            bindNames()
            run(.rulesChanged(new), now: now, &actions)
            followScripts(now: now)
            followCalls(changedFrom: old, now: now, &actions)
            actions.append(.tell(.rulesChanged(changed)))
            self.changed(now: now)
        case .ruleEnabled(let rule, let isOn):
            if isOn { disabled.remove(rule) } else { disabled.insert(rule) }
            run(.ruleEnabled(rule, isOn), now: now, &actions)
            if !isOn { giveUpCalls("its rule was turned off", now: now, &actions) { $0.firing.rule == rule } }
            // The notice is sent after the setting is stored, because the setting must also apply in the next process.
            afterStoring(.tell(.ruleEnabled(rule, isOn)), now: now)
        case .ruleRun(let rule, let id):
            // The queued events are evaluated first, so that plugs are present before they are commanded.
            assemble(now: now, &actions)
            run(.ruleRun(rule, id: id), now: now, &actions)
        case _: break
        }
    }

    // MARK: Plugs

    private mutating func bindNames() {
        let known = memory.plugs.filter { plug in paired.map { $0.names[plug.id] != nil } ?? true }
        _ = memory.names.bind(rules, to: known, paired: paired)
        engine.bind(memory.names.plugs, paired: paired)
    }

    /// Returns the plug that a rule means by this name, even if it is absent: the plug to which the name is bound, else
    /// the paired plug of that name, else the plug that last had it. Nil if the name is unknown or ambiguous.
    func plug(named written: String) -> PlugID? {
        if let bound = memory.names[written] { return bound }
        switch paired?.owner(of: written) ?? .unknown {
        case .plug(let id): return id
        case .ambiguous: return nil
        case .unknown: return memory.plug(named: written)
        }
    }

    /// Returns true if a plug name that a rule uses, and that is not bound to an id, refers to the plug.
    func means(_ written: String, _ id: PlugID, called name: String) -> Bool {
        switch paired?.owner(of: written) ?? .unknown {
        case .plug(let owner): owner == id
        case .ambiguous: false
        case .unknown: written.foldedPlugName == name.foldedPlugName
        }
    }

    /// Reports a rename by the user, and the rules that still use an earlier name. That name still means the plug. A
    /// rename that concerns no rule is not reported.
    private func tellRenamed(_ id: PlugID, from before: String, to name: String, _ actions: inout [Action]) {
        let others = memory.names.plugs.filter { $0.value == id && $0.key.lowercased() != name.lowercased() }
        let written = Set(others.keys)
        let bound = rules.filter { !written.isDisjoint(with: $0.plugs) }.map(\.name)
        guard !bound.isEmpty else { return }
        actions.append(.tell(.renamed(plug: name, id: id, before: before, rules: bound)))
    }

    private mutating func appear(_ plug: String, _ state: PlugState, now: Instant, _ actions: inout [Action]) {
        guard let presence = present[plug] else { return }
        run(.plugAppeared(plug: plug, state: state, boot: presence.boot, id: presence.id), now: now, &actions)
        count(plug, state, now: now, &actions)
        if !presence.isFollowed {
            present[plug]?.isFollowed = true
            let count = present.values.count { $0.isFollowed }
            actions.append(.tell(.following(plugs: count, newest: plug)))
        }
        // An earlier process may have been killed before it could report that commands were superseded.
        for command in memory.commands where command.plug == presence.id {
            for action in overtake(by: command) { afterStoring(action, now: now) }
        }
        for command in memory.commands where command.plug == presence.id {
            let request = CommandRequest(id: command.request.id, plug: plug, command: command.request.command)
            run(.commandResumed(request), now: now, &actions)
            guard command.until > now, deliveries[request.id] == nil else { continue }
            deliveries[request.id] = .ready
            actions.append(.tell(.resumed(command)))
        }
        sendDeferredCommands(of: plug, presence.id, now: now, &actions)
        actions += dispatch(to: presence.id)
        assembly?.appeared(presence.id)
    }

    private mutating func read(_ plug: String, _ state: PlugState, now: Instant, _ actions: inout [Action]) {
        run(.state(plug: plug, on: state.relayOn, level: state.level), now: now, &actions)
        heard(now: now)
        guard let reading = state.reading, let index = engine.index(of: plug) else { return }
        // Most readings affect no rule, so they take the shortest path.
        let decided = engine.read(index, activePower: reading.activePower, time: reading.time, now: now)
        follow(decided, now: now, &actions)
        reportAnswers(now: now, &actions)
        count(plug, state, now: now, &actions)
    }

    /// Passes the energy counter to the engine if it changed. Each reading contains the counter, but it changes only
    /// every few seconds.
    private mutating func count(_ plug: String, _ state: PlugState, now: Instant, _ actions: inout [Action]) {
        guard let energy = state.reading?.milliwattHours, present[plug]?.milliwattHours != energy else { return }
        present[plug]?.milliwattHours = energy
        run(.energy(plug: plug, milliwattHours: energy), now: now, &actions)
    }

    /// Evaluates all queued events before the next input of a plug that has queued events.
    private mutating func settle(_ plug: String, now: Instant, _ actions: inout [Action]) {
        if let assembly, assembly.holdsEvents(of: plug) { assemble(now: now, &actions) }
    }

    /// Ends the startup grace period and evaluates all queued events. Does nothing if the period has ended already.
    mutating func assemble(now: Instant, _ actions: inout [Action]) {
        guard let held = assembly?.held else { return }
        assembly = nil
        for item in held {
            judge(item.event, of: item.plug, age: item.age.map { $0 + (now - item.came) }, now: now, &actions)
        }
        if let due = engine.nextDeadline, due <= now { run(.deadlineReached, now: now, &actions) }
    }

    private mutating func judge(
        _ event: PlugEvent, of plug: String, age: Duration?, now: Instant, _ actions: inout [Action]
    ) {
        // An event that an earlier process handled is ignored.
        guard let id = present[plug]?.id, event.sequence > memory.cursor(of: id) ?? 0 else { return }
        move(id, to: event.sequence, now: now)
        run(.happened(plug: plug, event, age: age), now: now, &actions)
    }

    // MARK: The engine

    mutating func run(_ event: RuleEngineEvent, now: Instant, _ actions: inout [Action]) {
        follow(engine.handle(event, now: now), now: now, &actions)
        reportAnswers(now: now, &actions)
    }

    /// Passes the results of refused commands to the engine, which then also handles everything that is due. This may
    /// fire rules.
    mutating func reportAnswers(now: Instant, _ actions: inout [Action]) {
        while !answers.isEmpty {
            follow(engine.handle(answers.removeFirst(), now: now), now: now, &actions)
        }
    }

    /// Handles the engine's decisions. Actions outside of this process, and their notices, wait until the decisions are
    /// stored.
    private mutating func follow(_ decided: [RuleEngineAction], now: Instant, _ actions: inout [Action]) {
        guard !decided.isEmpty else { return }
        var done: [Action] = []
        var reachesOut = false
        for action in decided {
            switch action {
            case .fired(let firing): done.append(.tell(.firing(firing)))
            case .heldBack(let firing, let reason): done.append(.tell(.heldBack(firing, reason)))
            case .nearMiss(let miss): done.append(.tell(.nearMiss(miss)))
            case .notSent(let firing, let plug, let reason):
                done.append(.tell(.notSent(firing, plug: plug, reason)))
            case .step(let firing, let step): done.append(.tell(.step(firing, step)))
            case .send(let request, let firing): done += decide(request, firing, now: now)
            case .remember(let request, let firing, let span): done += remember(request, firing, for: span, now: now)
            case .effect(let request): done += perform(request, now: now)
            case .call(let call): done += ask(call, now: now)
            }
            reachesOut = reachesOut || action.reachesOut
        }
        // Without an action that the next process must continue, the notices do not wait for a write.
        changed(now: now)
        guard reachesOut else { return actions += done }
        for action in done { afterStoring(action, now: now) }
    }
}

extension RuleEngineAction {
    /// True if the next process must continue the action. This includes the start of a wait, so that a reported wait is
    /// never lost.
    fileprivate var reachesOut: Bool {
        switch self {
        case .send, .remember, .effect, .call, .step(_, .waiting), .step(_, .waitingFor): true
        case .fired, .heldBack, .nearMiss, .notSent, .step: false
        }
    }
}

extension Rule {
    /// Returns the names of new and changed rules in their new order, then those of removed rules.
    static func names(changedFrom old: [Rule], to new: [Rule]) -> [String] {
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let after = Set(new.map(\.name))
        return new.filter { before[$0.name] != $0 }.map(\.name) + old.map(\.name).filter { !after.contains($0) }
    }
}
