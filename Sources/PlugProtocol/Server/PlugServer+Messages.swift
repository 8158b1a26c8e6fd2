import PlugModel
internal import ProtocolCore

extension PlugServer {
    mutating func receive(_ bytes: [UInt8], on connection: ConnectionID, now: Instant, _ actions: inout [Action]) {
        // Bytes of a session that has already ended are ignored.
        sessions[connection]?.lastReceived = now
        sessions[connection]?.decoder.append(bytes)
        readMessages(on: connection, now: now, &actions)
    }

    /// Handles the received messages until the session ends or has to wait.
    mutating func readMessages(on connection: ConnectionID, now: Instant, _ actions: inout [Action]) {
        // Each message can end this session or others. FactoryReset is the last message to be read: the result of the
        // reset depends on flash, and later messages must not depend on it.
        while let awaitsReset = sessions[connection]?.awaitsReset {
            if awaitsReset {
                sessions[connection]?.decoder = FrameDecoder()
                return
            }
            guard !mustWait(connection, now: now, &actions) else { return }
            do {
                guard let message = try sessions[connection]?.decoder.next(WireControllerMessage.self) else { return }
                count(message, of: connection, now: now)
                try handle(message, from: connection, now: now, &actions)
                endWhereAnswersGrow(connection, now: now, &actions)
            } catch let fault as FrameFault {
                end(connection, Goodbye(.malformed, "\(fault)"), now: now, &actions)
            } catch let fault as MessageFault {
                end(connection, Goodbye(.malformed, "\(fault)"), now: now, &actions)
            } catch {
                preconditionFailure("no other error is thrown here: \(error)")
            }
        }
    }

    /// Ends a session whose answers exceed the limit. One read can contain thousands of short requests whose answers
    /// are long.
    private mutating func endWhereAnswersGrow(
        _ connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let bytes = sessions[connection]?.outputBytes, bytes > limits.unsentBytes else { return }
        let detail = "The answers to all open requests are more than \(limits.unsentBytes) bytes."
        end(connection, Goodbye(.limit, detail), now: now, &actions)
    }

    private mutating func handle(
        _ message: WireControllerMessage, from connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        // Messages of a later version are skipped.
        guard let kind = message.kind else { return }
        if case .goodbye(let wire) = kind {
            actions.append(.shell(.close(connection, .endedByPeer(wire.model))))
            sessions[connection] = nil
            return
        }
        switch sessions[connection]?.phase {
        case nil: break
        case .awaitingHello(let since):
            try begin(kind, from: connection, since: since, now: now, &actions)
        case .challenged(_, let pairing):
            guard case .pairingProof(let wire) = kind else {
                return end(
                    connection, Goodbye(.outOfOrder, "The challenge must be followed by the proof."), now: now, &actions
                )
            }
            sessions[connection]?.phase = .proving(since: now, pairing, proof: Array(wire.proof))
        case .proving:
            end(
                connection, Goodbye(.outOfOrder, "A message arrived before the proof was answered."), now: now, &actions
            )
        case .established(let established):
            try handle(kind, from: connection, established, now: now, &actions)
        }
    }

    private mutating func begin(
        _ kind: WireControllerMessage.OneOf_Kind, from connection: ConnectionID, since: Instant, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        switch kind {
        case .hello(let hello):
            try greet(hello, from: connection, now: now, &actions)
        case .pairingRequest(let request):
            try challenge(request, from: connection, since: since, now: now, &actions)
        case .subscribe, .acknowledge, .command, .fetchSamples, .ping, .pong, .goodbye, .pairingProof,
            .listControllers, .removeController, .factoryReset, .followLog, .invite, .setRole, .fetchAudit, .newCode,
            .announceKey, .nextKeyKept, .manageHomekit, .listInvitations, .revokeInvitation, .manageMatter,
            .manageUpdate, .manageWifi:
            end(connection, Goodbye(.outOfOrder, "The first message must be Hello."), now: now, &actions)
        }
    }

    private mutating func greet(
        _ hello: WireHello, from connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard hello.version == PlugWire.version else {
            return end(connection, Goodbye(version: hello.version), now: now, &actions)
        }
        // The name is validated before any change, so that a refused message has no effect.
        let own = try WireScalar.name(hello.controller, "controller")
        completeKeyRotation(of: connection, now: now, &actions)
        guard let paired = sessions[connection].flatMap({ access.controllers[$0.key] }) else {
            note(.refused, of: connection, isRefused: true, "hello: not paired")
            return end(connection, .notPaired, now: now, &actions)
        }
        sessions[connection]?.phase = .established(
            ServerSession.Established(
                controller: paired.shown(as: own), authority: paired.authority,
                actor: paired.auditActor, role: paired.role))
        var welcome = WireWelcome(identity, now: now)
        welcome.role = WireRole(paired.role)
        welcome.nonce = .init(sessions[connection]?.nonce ?? [])
        sessions[connection]?.say { $0.welcome = welcome }
        sendNextKey(to: connection)
    }

    private mutating func handle(
        _ kind: WireControllerMessage.OneOf_Kind, from connection: ConnectionID,
        _ established: ServerSession.Established,
        now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard established.role.may(AskedRequest(kind)) || isForItself(kind, connection) else {
            return refuse(AskedRequest(kind), established.role, to: connection)
        }
        guard spendWrites(AskedRequest(kind).writes, for: AskedRequest(kind), of: connection, now: now) else { return }
        switch kind {
        case .hello, .pairingRequest, .pairingProof:
            end(connection, Goodbye(.outOfOrder, "Hello was sent twice."), now: now, &actions)
        case .listControllers:
            listControllers(to: connection, now: now)
        case .removeController(let wire):
            removeController(wire.fingerprint, asker: connection, now: now, &actions)
        case .factoryReset:
            var established = established
            established.awaitsReset = true
            sessions[connection]?.phase = .established(established)
            actions.append(.factoryReset)
        case .invite(let wire):
            try invite(wire, from: connection, now: now)
        case .listInvitations:
            listInvitations(to: connection, now: now)
        case .revokeInvitation(let wire):
            access.invitations.revoke(wire.number)
            listInvitations(to: connection, now: now)
        case .setRole(let wire):
            try setRole(wire, from: connection, now: now, &actions)
        case .newCode(let wire):
            try changeCode(wire, from: connection, &actions)
        case .announceKey(let wire):
            try announceKey(wire, from: connection, now: now, &actions)
        case .nextKeyKept(let wire):
            noteKept(wire, from: connection, now: now, &actions)
        case .subscribe(let wire):
            subscribe(connection, established, try wire.model(), now: now)
        case .acknowledge(let wire):
            // A number ahead of the journal cannot be an event of this plug and is ignored.
            guard wire.sequence < journal.nextSequence else { return }
            var established = established
            established.acknowledged = wire.sequence
            sessions[connection]?.phase = .established(established)
        case .command(let wire):
            try command(wire, from: connection, established, now: now, &actions)
        case .fetchSamples(let wire):
            try fetch(wire, from: connection, established, now: now, &actions)
        case .followLog(let wire):
            followLog(wire, from: connection, now: now)
        case .fetchAudit(let wire):
            try fetchAudit(wire, from: connection, established, now: now, &actions)
        case .manageHomekit(let wire):
            try manageHomeKit(wire, from: connection, established, now: now, &actions)
        case .manageMatter(let wire):
            try manageMatter(wire, from: connection, established, now: now, &actions)
        case .manageUpdate(let wire):
            try manageUpdate(wire, from: connection, established, now: now, &actions)
        case .manageWifi(let wire):
            try manageWiFi(wire, from: connection, established, now: now, &actions)
        case .ping(let wire):
            sessions[connection]?.say {
                $0.pong.token = wire.token
                $0.pong.plugTime = WireScalar.nanoseconds(now)
            }
        case .pong:
            break
        case .goodbye:
            preconditionFailure("Goodbye was handled before")
        }
    }

    private mutating func subscribe(
        _ connection: ConnectionID, _ established: ServerSession.Established, _ options: SubscriptionOptions,
        now: Instant
    ) {
        var established = established
        var gap: Gap?
        switch (options.events, established.events) {
        case (.none, _):
            established.events = .closed
        case (.fromNow, .closed):
            established.events = .open(cursor: journal.nextSequence - 1)
        case (.fromNow, .open):
            break
        case (.after(let cursor), _):
            switch journal.resume(after: cursor) {
            case .resumed:
                established.events = .open(cursor: cursor)
            case .gap(let lost):
                gap = lost
                established.events = .open(cursor: lost.to)
            }
        }
        let subscribed = WireSubscribed(next: journal.nextSequence, gap: gap)
        sessions[connection]?.say { $0.subscribed = subscribed }
        if let wanted = options.state {
            established.states = .open(
                StateSubscription(
                    deadBandMilliwatts: wanted.deadBandMilliwatts,
                    interval: wanted.maximumInterval ?? PlugWire.defaultReadingInterval, sent: state, sentAt: now))
            var snapshot = WireSnapshot()
            snapshot.state = WireState(state)
            snapshot.plugTime = WireScalar.nanoseconds(now)
            sessions[connection]?.say { $0.snapshot = snapshot }
        } else {
            established.states = .closed
        }
        sessions[connection]?.phase = .established(established)
    }

    private mutating func command(
        _ wire: WireCommand, from connection: ConnectionID, _ established: ServerSession.Established, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let request = try WireScalar.request(wire.requestID)
        let deadline = try wire.deadline(now: now)
        let command: PlugCommand
        switch wire.model() {
        case .success(let known): command = known
        case .failure(let refusal):
            note(.refused, of: connection, isRefused: true, "command: \(refusal.code.words)")
            return answer(.refused(refusal), to: request, on: connection)
        }
        let asker = Commander(
            name: established.controller, authority: established.authority, role: established.role,
            actor: established.actor)
        let mayWait = established.requestsInFlight < PlugWire.requestsInFlight
        let waiter = RequestLedger.Waiter.session(connection)
        switch handle(command, request, of: asker, waiter, mayWait: mayWait, deadline: deadline, now: now, &actions) {
        case .answered(let outcome): answer(outcome, to: request, on: connection)
        case .waitsAlready, .late: break
        case .waits: sessions[connection]?.waits(forRequests: +1)
        }
    }

    private mutating func answer(_ outcome: CommandOutcome, to request: RequestID, on connection: ConnectionID) {
        let result = WireCommandResult(outcome, request: request)
        sessions[connection]?.say { $0.result = result }
    }

    mutating func finish(_ command: CommandID, _ outcome: CommandOutcome, _ actions: inout [Action]) {
        guard let (outcome, waiting, asker) = endCommand(command, outcome) else { return }
        if let asker { noteEnd(ofCommandOf: asker, outcome) }
        for waiter in waiting {
            switch waiter {
            case .door(let door, let ticket): actions.append(.shell(.answer(door, ticket: ticket, outcome)))
            case .session(let connection):
                // The session may have ended. The controller then repeats the request in a new session.
                sessions[connection]?.waits(forRequests: -1)
                answer(outcome, to: command.request, on: connection)
            }
        }
    }
}

extension PairedControllers.Controller {
    /// The controller's name in events: the name from pairing, followed by the name in Hello if it differs. The name in
    /// Hello is not authenticated.
    fileprivate func shown(as own: String) -> String {
        var own = own == name || InstanceNameRule.refusal(of: own) != nil ? "" : own
        while !own.isEmpty, name.utf8.count + own.utf8.count + 3 > PlugWire.maximumName { own.removeLast() }
        return own.isEmpty ? name : "\(name) (\(own))"
    }
}
