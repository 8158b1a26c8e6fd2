import PlugProtocol
import ProtocolCore

extension HouseRules {
    mutating func take(_ event: Event, now: Instant, _ actions: inout [Action]) {
        switch event {
        case .connected(let plug, let id, let boot):
            settle(plug, now: now, &actions)
            present[plug] = Presence(id: id, boot: boot)
            memory.meet(id, plug)
            changed(now: now)
        case .following(let plug, let cursor):
            guard let id = present[plug]?.id else { return }
            move(id, to: cursor, now: now)
            // From here on nothing is to be missed, not even by a process that is killed the next moment.
            storeRest(now: now)
        case .snapshot(let plug, let state):
            appear(plug, state, now: now, &actions)
        case .state(let plug, let state):
            run(.state(plug: plug, on: state.relayOn, level: state.level), now: now, &actions)
            guard let reading = state.reading else { return }
            run(
                .reading(plug: plug, activePower: reading.activePower, time: reading.time, isSnapshot: false),
                now: now, &actions)
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
        case .commandFinished(let id, let outcome): finish(id, outcome, now: now, &actions)
        case .clockChanged(let time, let sun): run(.clockChanged(time, sun), now: now, &actions)
        case .rulesChanged, .ruleEnabled, .ruleRun, .recorded, .effectFinished: break
        case .stored: writeEnded(failure: nil, &actions)
        case .storeFailed(let reason): writeEnded(failure: reason, &actions)
        case .stopping: storeRest(now: now)
        case .deadlineReached: run(.deadlineReached, now: now, &actions)
        }
    }

    // MARK: Plugs

    private mutating func appear(_ plug: String, _ state: PlugState, now: Instant, _ actions: inout [Action]) {
        guard let presence = present[plug] else { return }
        run(.plugAppeared(plug: plug, state: state, boot: presence.boot, id: presence.id), now: now, &actions)
        if !presence.isFollowed {
            present[plug]?.isFollowed = true
            let count = present.values.count { $0.isFollowed }
            actions.append(.tell(.following(plugs: count, newest: plug)))
        }
        for command in memory.commands where command.plug == presence.id {
            let request = CommandRequest(id: command.request.id, plug: plug, command: command.request.command)
            run(.commandResumed(request), now: now, &actions)
            guard command.until > now, deliveries[request.id] == nil else { continue }
            deliveries[request.id] = .ready
            actions.append(.tell(.resumed(command)))
        }
        actions += dispatch(to: presence.id)
        assembly?.appeared(presence.id)
    }

    /// What was held back of a plug is judged before something else is heard of it.
    private mutating func settle(_ plug: String, now: Instant, _ actions: inout [Action]) {
        if let assembly, assembly.holdsEvents(of: plug) { assemble(now: now, &actions) }
    }

    /// Judges the events that waited.
    mutating func assemble(now: Instant, _ actions: inout [Action]) {
        guard let held = assembly?.held else { return }
        assembly = nil
        for item in held {
            judge(item.event, of: item.plug, age: item.age.map { $0 + (now - item.came) }, now: now, &actions)
        }
    }

    private mutating func judge(
        _ event: PlugEvent, of plug: String, age: Duration?, now: Instant, _ actions: inout [Action]
    ) {
        // Also an event that an earlier process has dealt with is none any more.
        guard let id = present[plug]?.id, event.sequence > memory.cursor(of: id) ?? 0 else { return }
        move(id, to: event.sequence, now: now)
        run(.happened(plug: plug, event, age: age), now: now, &actions)
    }

    // MARK: Commands

    private mutating func run(_ event: RuleEngineEvent, now: Instant, _ actions: inout [Action]) {
        var done: [Action] = []
        var firing: Firing?
        for action in engine.handle(event, now: now) {
            switch action {
            case .fired(let fired):
                firing = fired
                done.append(.tell(.firing(fired)))
            case .heldBack(let firing, let reason): done.append(.tell(.heldBack(firing, reason)))
            case .notSent(let firing, let plug, let reason):
                done.append(.tell(.notSent(firing, plug: plug, reason)))
            case .nearMiss, .remember, .effect, .step: break
            case .send(let request, let firing):
                done.append(decide(request, firing, now: now))
            }
        }
        guard firing != nil else { return actions += done }
        // Where no command came of it nothing need wait; the cooldown is stored with what comes next.
        changed(now: now)
        let decided = done.contains { if case .send = $0 { true } else { false } }
        guard decided else { return actions += done }
        for action in done { afterStoring(action, now: now) }
    }

    private mutating func decide(_ request: CommandRequest, _ firing: Firing, now: Instant) -> Action {
        guard let plug = present[request.plug]?.id else { preconditionFailure("the engine commands an absent plug") }
        let command = HouseMemory.Command(
            request: request, plug: plug, rule: firing.rule, cause: "\(firing.cause)", event: firing.cause.event,
            until: now + Self.patience)
        guard memory.commands.count < HouseMemory.maximumCommands else {
            let detail = "\(memory.commands.count) commands wait for their answers already"
            return .tell(.command(command, refuse(request, Refusal(.busy, detail), now: now)))
        }
        memory.commands.append(command)
        deliveries[request.id] = .decided
        return .send(request)
    }

    /// Sends the plug's commands that are stored, in their order, so many at a time as it takes.
    mutating func dispatch(to plug: PlugID) -> [Action] {
        let commands = memory.commands.filter { $0.plug == plug }
        let room = PlugWire.requestsInFlight - commands.count { deliveries[$0.request.id] == .sent }
        return commands.filter { deliveries[$0.request.id] == .ready }.prefix(max(0, room)).map { command in
            deliveries[command.request.id] = .sent
            var request = command.request
            request.plug = present.first { $0.value.id == plug }?.key ?? request.plug
            return .send(request)
        }
    }

    private mutating func refuse(_ request: CommandRequest, _ refusal: Refusal, now: Instant) -> CommandOutcome {
        _ = engine.handle(
            .commandFinished(plug: request.plug, id: request.id, outcome: .refused(refusal)), now: now)
        return .refused(refusal)
    }

    private mutating func finish(
        _ id: RequestID, _ outcome: CommandOutcome, now: Instant, _ actions: inout [Action]
    ) {
        guard let index = memory.commands.firstIndex(where: { $0.request.id == id }) else { return }
        let command = memory.commands.remove(at: index)
        deliveries[id] = nil
        changed(now: now)
        run(.commandFinished(plug: command.request.plug, id: id, outcome: outcome), now: now, &actions)
        actions.append(.tell(.command(command, outcome)))
        actions += dispatch(to: command.plug)
    }

    mutating func expireCommands(now: Instant, _ actions: inout [Action]) {
        let expired = memory.commands.filter { $0.until <= now }
        guard !expired.isEmpty else { return }
        memory.commands.removeAll { $0.until <= now }
        changed(now: now)
        let seconds = Self.patience.components.seconds
        for command in expired {
            let id = command.request.id
            let detail: String
            switch deliveries.removeValue(forKey: id) {
            case .sent:
                actions.append(.withdraw(id))
                detail = "the plug did not answer within \(seconds) s"
            case .decided, .ready: detail = "it could not be sent within \(seconds) s"
            case nil: detail = "nobody was there to send it, or to hear its answer, for \(seconds) s"
            }
            let outcome = refuse(command.request, Refusal(.deadlinePassed, detail), now: now)
            actions.append(.tell(.command(command, outcome)))
        }
        for plug in Set(expired.map(\.plug)) { actions += dispatch(to: plug) }
    }
}
