import Automation
import PlugModel
import ProtocolCore

/// Commands on their way to plugs, and commands stored for absent plugs.
extension DurableRuleEngine {
    static let overtaken = Refusal(.deadlinePassed, "replaced by a later command")

    mutating func decide(_ request: CommandRequest, _ firing: Firing, now: Instant) -> [Action] {
        guard let plug = present[request.plug]?.id else { preconditionFailure("the engine commands an absent plug") }
        let hasWaited = now - firing.time > Self.gathering || firing.cause.isTimer
        let isEnd = hasWaited && request.command == .setRelay(on: false, autoOff: nil)
        let until = now + (isEnd ? Self.waitedPatience : Self.patience)
        let command = StoredRuleState.Command(request, firing, to: plug, until: until)
        let told = Action.tell(.commanded(request, firing))
        // Without room for the new command, the commands that it would supersede continue.
        guard memory.commands.count < StoredRuleState.maximumCommands else {
            let detail = "\(memory.commands.count) commands are already waiting for their answers"
            return [told, .tell(.command(command, refuse(command, Refusal(.busy, detail))))]
        }
        let ends = overtake(by: command)
        memory.commands.append(command)
        deliveries[request.id] = .decided
        return [told] + ends + [.send(request)]
    }

    /// Marks earlier commands that the later one supersedes. Returns the actions that end them. The actions run after
    /// the write that stores the later command.
    mutating func overtake(by later: StoredRuleState.Command) -> [Action] {
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

    /// Ends a superseded command after the later one is stored.
    mutating func endOvertaken(_ id: RequestID, now: Instant, _ actions: inout [Action]) {
        // The plug may have answered it meanwhile.
        guard case .overtaken(let wasSent) = deliveries[id],
            let index = memory.commands.firstIndex(where: { $0.request.id == id })
        else { return }
        let command = memory.commands.remove(at: index)
        deliveries[id] = nil
        changed(now: now)
        if wasSent { actions.append(.withdraw(id)) }
        actions.append(.tell(.command(command, refuse(command, Self.overtaken))))
        if let plug = command.plug { actions += dispatch(to: plug) }
    }

    /// Returns the plug's present name; nil if it is not connected.
    private func presentName(of plug: PlugID?) -> String? {
        plug.flatMap { id in present.first { $0.value.id == id }?.key }
    }

    /// Sends the plug's stored commands in order, up to the number that a plug accepts at a time. Commands for an
    /// absent plug wait until it appears.
    mutating func dispatch(to plug: PlugID) -> [Action] {
        guard let name = presentName(of: plug) else { return [] }
        let commands = memory.commands.filter { $0.plug == plug }
        let room = PlugWire.requestsInFlight - commands.count { deliveries[$0.request.id] == .sent }
        return commands.filter { deliveries[$0.request.id] == .ready }.prefix(max(0, room)).map { command in
            deliveries[command.request.id] = .sent
            var request = command.request
            request.plug = name
            return .send(request)
        }
    }

    /// Refuses a command. The engine handles the refusal after the present event, so that its decisions about the
    /// refusal follow those about the event.
    private mutating func refuse(_ command: StoredRuleState.Command, _ refusal: Refusal) -> CommandOutcome {
        answers.append(answer(to: command, .refused(refusal)))
        return .refused(refusal)
    }

    private func answer(to command: StoredRuleState.Command, _ outcome: CommandOutcome) -> RuleEngineEvent {
        // The engine knows a renamed plug by its new name.
        let name = presentName(of: command.plug) ?? command.request.plug
        return .commandFinished(plug: name, id: command.request.id, outcome: outcome)
    }

    mutating func finish(_ id: RequestID, _ outcome: CommandOutcome, now: Instant, _ actions: inout [Action]) {
        guard let index = memory.commands.firstIndex(where: { $0.request.id == id }) else { return }
        guard !isPutOff(memory.commands[index], outcome, now: now) else { return deliveries[id] = .ready }
        let command = memory.commands.remove(at: index)
        deliveries[id] = nil
        changed(now: now)
        run(answer(to: command, outcome), now: now, &actions)
        actions.append(.tell(.command(command, outcome)))
        if let plug = command.plug { actions += dispatch(to: plug) }
    }

    /// Returns true if the plug disconnected before it answered and the command must be sent again after it returns.
    /// The disconnection may be reported only after this outcome. A command with a long deadline therefore ends only
    /// when the plug answers or the deadline passes.
    private func isPutOff(_ command: StoredRuleState.Command, _ outcome: CommandOutcome, now: Instant) -> Bool {
        guard case .refused(let refusal) = outcome, refusal.code == .deadlinePassed, command.until > now,
            deliveries[command.request.id] == .sent
        else { return false }
        return presentName(of: command.plug) == nil || command.until - now > Self.patience
    }

    // MARK: Absent plugs

    /// Stores the command for an absent plug. It replaces every earlier command that is stored for the plug, and
    /// supersedes unanswered commands.
    mutating func remember(
        _ request: CommandRequest, _ firing: Firing, for span: Duration, now: Instant
    ) -> [Action] {
        let plug = plug(named: request.plug)
        let until = now + min(span, Self.longestRemembering)
        let deferred = StoredRuleState.Command(request, firing, to: plug, until: until)
        let others = memory.deferred.filter { !$0.isForSamePlug(as: deferred) }
        guard others.count < StoredRuleState.maximumDeferred else {
            let detail = "commands for \(others.count) other absent plugs are already stored"
            return [.tell(.command(deferred, refuse(deferred, Refusal(.busy, detail))))]
        }
        var done = overtake(by: deferred)
        for replaced in memory.deferred where replaced.isForSamePlug(as: deferred) {
            done.append(.tell(.command(replaced, refuse(replaced, Self.overtaken))))
        }
        memory.deferred = others + [deferred]
        return done + [.tell(.remembered(deferred))]
    }

    /// Turns the stored commands of a returned plug into normal commands, if there is room.
    mutating func sendDeferredCommands(of name: String, _ id: PlugID, now: Instant, _ actions: inout [Action]) {
        let granted = memory.deferred.filter { deferred in
            guard deferred.until > now else { return false }
            return deferred.plug.map { $0 == id } ?? means(deferred.request.plug, id, called: name)
        }
        for deferred in granted {
            guard memory.commands.count < StoredRuleState.maximumCommands else { return deferredWait = true }
            memory.deferred.removeAll { $0.request.id == deferred.request.id }
            var command = deferred
            (command.plug, command.request.plug, command.until) = (id, name, now + Self.patience)
            for action in overtake(by: command) { afterStoring(action, now: now) }
            memory.commands.append(command)
            deliveries[command.request.id] = .decided
            run(.commandResumed(command.request), now: now, &actions)
            afterStoring(.send(command.request), now: now)
        }
    }

    /// Retries the stored commands of returned plugs after other commands have ended.
    mutating func sendWaitingCommands(now: Instant, _ actions: inout [Action]) {
        guard deferredWait, memory.commands.count < StoredRuleState.maximumCommands else { return }
        deferredWait = false
        for (name, presence) in present.sorted(by: { $0.key < $1.key }) where presence.isFollowed {
            sendDeferredCommands(of: name, presence.id, now: now, &actions)
        }
    }

    // MARK: Ends

    /// Ends the commands, effects, script calls and commands for absent plugs that have expired.
    mutating func expire(now: Instant, _ actions: inout [Action]) {
        expireCommands(now: now, &actions)
        expireEffects(now: now, &actions)
        expireCalls(now: now, &actions)
        let overdue = memory.deferred.filter { $0.until <= now }
        guard !overdue.isEmpty else { return }
        memory.deferred.removeAll { $0.until <= now }
        changed(now: now)
        for deferred in overdue {
            let outcome = refuse(deferred, Refusal(.deadlinePassed, "the plug was away for too long"))
            actions.append(.tell(.command(deferred, outcome)))
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
            case nil: detail = "the daemon was not running to send it or to receive its answer"
            }
            let outcome = refuse(command, Refusal(.deadlinePassed, detail))
            actions.append(.tell(.command(command, outcome)))
        }
        for plug in Set(expired.compactMap(\.plug)) { actions += dispatch(to: plug) }
    }
}

extension Firing.Cause {
    /// True if a script's timer caused the firing. A timer is a script's way to wait, as ``RuleAction/wait(_:)`` is a
    /// rule's.
    fileprivate var isTimer: Bool { if case .trigger(.timer) = source { true } else { false } }
}

extension StoredRuleState.Command {
    fileprivate init(_ request: CommandRequest, _ firing: Firing, to plug: PlugID?, until: Instant) {
        self.init(
            request: request, plug: plug, rule: firing.rule, cause: "\(firing.cause)", event: firing.cause.event,
            until: until)
    }

    fileprivate func isForSamePlug(as other: StoredRuleState.Command) -> Bool {
        guard let plug, let others = other.plug else {
            return request.plug.lowercased() == other.request.plug.lowercased()
        }
        return plug == others
    }
}

extension PlugCommand {
    /// Returns true if both commands set the relay, or both set the level, so that this command does not affect the
    /// result. A level and a relay state are independent: `dim` and then `turn on for 15 min` are both sent, in order.
    fileprivate func isOvertaken(by later: PlugCommand) -> Bool {
        switch (self, later) {
        case (.setRelay, .setRelay), (.setLevel, .setLevel): true
        case (.setRelay, _), (.setLevel, _), (.identify, _), (.resetProtection, _), (.rename, _), (.configure, _): false
        }
    }
}
