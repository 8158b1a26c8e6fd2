import PlugProtocol
import ProtocolCore

/// Commands on their way to plugs, and those that wait for one that is away.
extension HouseRules {
    static let overtaken = Refusal(.deadlinePassed, "overtaken by a later command")

    mutating func decide(_ request: CommandRequest, _ firing: Firing, now: Instant) -> [Action] {
        guard let plug = present[request.plug]?.id else { preconditionFailure("the engine commands an absent plug") }
        let hasWaited = now - firing.time > Self.gathering
        let isEnd = hasWaited && request.command == .setRelay(on: false, autoOff: nil)
        let until = now + (isEnd ? Self.waitedPatience : Self.patience)
        let command = HouseMemory.Command(request, firing, to: plug, until: until)
        let done = [Action.tell(.commanded(request, firing))] + overtake(by: command)
        guard memory.commands.count < HouseMemory.maximumCommands else {
            let detail = "\(memory.commands.count) commands wait for their answers already"
            return done + [.tell(.command(command, refuse(request, Refusal(.busy, detail), now: now)))]
        }
        memory.commands.append(command)
        deliveries[request.id] = .decided
        return done + [.send(request)]
    }

    /// Nobody waits any more for the answer to an earlier command about the same thing, once this one is stored: what it asked for is
    /// not wanted now.
    mutating func overtake(by later: HouseMemory.Command) -> [Action] {
        let end = memory.commands.firstIndex { $0.request.id == later.request.id } ?? memory.commands.endIndex
        var ends: [Action] = []
        for command in memory.commands[..<end]
        where command.isForSamePlug(as: later) && command.request.command.isOvertaken(by: later.request.command) {
            let id = command.request.id
            switch deliveries[id] {
            case .overtaken: continue
            case .sent: deliveries[id] = .overtaken(wasSent: true)
            case .decided, .ready, nil: deliveries[id] = .overtaken(wasSent: false)
            }
            ends.append(.withdraw(id))
        }
        return ends
    }

    /// The later command is stored.
    mutating func endOvertaken(_ id: RequestID, now: Instant, _ actions: inout [Action]) {
        // It may have been answered meanwhile after all.
        guard case .overtaken(let wasSent) = deliveries[id],
            let index = memory.commands.firstIndex(where: { $0.request.id == id })
        else { return }
        let command = memory.commands.remove(at: index)
        deliveries[id] = nil
        changed(now: now)
        if wasSent { actions.append(.withdraw(id)) }
        actions.append(.tell(.command(command, refuse(command.request, Self.overtaken, now: now))))
        if let plug = command.plug { actions += dispatch(to: plug) }
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

    mutating func finish(_ id: RequestID, _ outcome: CommandOutcome, now: Instant, _ actions: inout [Action]) {
        guard let index = memory.commands.firstIndex(where: { $0.request.id == id }) else { return }
        let command = memory.commands.remove(at: index)
        deliveries[id] = nil
        changed(now: now)
        run(.commandFinished(plug: command.request.plug, id: id, outcome: outcome), now: now, &actions)
        actions.append(.tell(.command(command, outcome)))
        if let plug = command.plug { actions += dispatch(to: plug) }
    }

    // MARK: Plugs that are away

    /// The last wish for a plug that is away, in place of every earlier one, and of what it has not answered.
    mutating func remember(
        _ request: CommandRequest, _ firing: Firing, for span: Duration, now: Instant
    ) -> [Action] {
        let plug = memory.plug(named: request.plug)
        let until = now + min(span, Self.longestRemembering)
        let wish = HouseMemory.Command(request, firing, to: plug, until: until)
        var done = overtake(by: wish)
        let replaced = memory.wishes.filter { $0.isForSamePlug(as: wish) }
        memory.wishes.removeAll { $0.isForSamePlug(as: wish) }
        done += replaced.map { .tell(.command($0, refuse($0.request, Self.overtaken, now: now))) }
        guard memory.wishes.count < HouseMemory.maximumWishes else {
            let detail = "commands for \(memory.wishes.count) other plugs that are away are kept already"
            return done + [.tell(.command(wish, refuse(request, Refusal(.busy, detail), now: now)))]
        }
        memory.wishes.append(wish)
        return done + [.tell(.remembered(wish))]
    }

    /// The plug is back: what was kept for it becomes a command like any other.
    mutating func grantWish(of name: String, _ id: PlugID, now: Instant, _ actions: inout [Action]) {
        let granted = memory.wishes.filter { wish in
            guard wish.until > now else { return false }
            return wish.plug.map { $0 == id } ?? (wish.request.plug.lowercased() == name.lowercased())
        }
        guard !granted.isEmpty else { return }
        let ids = Set(granted.map(\.request.id))
        memory.wishes.removeAll { ids.contains($0.request.id) }
        for wish in granted {
            var command = wish
            (command.plug, command.request.plug, command.until) = (id, name, now + Self.patience)
            for action in overtake(by: command) { afterStoring(action, now: now) }
            memory.commands.append(command)
            deliveries[command.request.id] = .decided
            run(.commandResumed(command.request), now: now, &actions)
            afterStoring(.send(command.request), now: now)
        }
    }

    // MARK: Ends

    /// What is not worth its while any more.
    mutating func expire(now: Instant, _ actions: inout [Action]) {
        expireCommands(now: now, &actions)
        expireEffects(now: now, &actions)
        let wishes = memory.wishes.filter { $0.until <= now }
        guard !wishes.isEmpty else { return }
        memory.wishes.removeAll { $0.until <= now }
        changed(now: now)
        for wish in wishes {
            let outcome = refuse(wish.request, Refusal(.deadlinePassed, "the plug was away for too long"), now: now)
            actions.append(.tell(.command(wish, outcome)))
        }
    }

    private mutating func expireCommands(now: Instant, _ actions: inout [Action]) {
        let expired = memory.commands.filter { $0.until <= now }
        guard !expired.isEmpty else { return }
        memory.commands.removeAll { $0.until <= now }
        changed(now: now)
        for command in expired {
            let id = command.request.id
            let detail: String
            switch deliveries.removeValue(forKey: id) {
            case .sent:
                actions.append(.withdraw(id))
                detail = "the plug did not answer in time"
            case .overtaken(let wasSent):
                if wasSent { actions.append(.withdraw(id)) }
                detail = Self.overtaken.detail
            case .decided, .ready: detail = "it could not be sent in time"
            case nil: detail = "nobody was there in time to send it, or to hear its answer"
            }
            let outcome = refuse(command.request, Refusal(.deadlinePassed, detail), now: now)
            actions.append(.tell(.command(command, outcome)))
        }
        for plug in Set(expired.compactMap(\.plug)) { actions += dispatch(to: plug) }
    }
}

extension HouseMemory.Command {
    fileprivate init(_ request: CommandRequest, _ firing: Firing, to plug: PlugID?, until: Instant) {
        self.init(
            request: request, plug: plug, rule: firing.rule, cause: "\(firing.cause)", event: firing.cause.event,
            until: until)
    }

    fileprivate func isForSamePlug(as other: HouseMemory.Command) -> Bool {
        guard let plug, let others = other.plug else {
            return request.plug.lowercased() == other.request.plug.lowercased()
        }
        return plug == others
    }
}

extension PlugCommand {
    /// Whether the later one alone leaves the plug as both of them would, one after the other. A level and a switching do not: `dim`
    /// and then `turn on for 15 min` want both, and are both sent, in their order.
    fileprivate func isOvertaken(by later: PlugCommand) -> Bool {
        switch (self, later) {
        case (.setRelay, .setRelay), (.setLevel, .setLevel): true
        case (.setRelay, _), (.setLevel, _), (.identify, _), (.resetProtection, _), (.rename, _), (.configure, _): false
        }
    }
}
