import PlugModel
internal import ProtocolCore

extension ControllerSession {
    /// A violation of the protocol by the plug.
    enum Fault: Error {
        case frame(FrameFault)
        case message(MessageFault)
        case order(String)
    }

    mutating func receive(_ bytes: [UInt8], now: Instant, _ actions: inout [Action]) {
        lastReceived = now
        probedAt = nil
        decoder.append(bytes)
        do {
            while true {
                if case .ended = phase { return }
                guard let message = try nextMessage() else { return }
                try handle(message, now: now, &actions)
            }
        } catch {
            switch error {
            case .frame(let fault): end(Goodbye(.malformed, "\(fault)"), now: now, &actions)
            case .message(let fault): end(Goodbye(.malformed, "\(fault)"), now: now, &actions)
            case .order(let detail): end(Goodbye(.outOfOrder, detail), now: now, &actions)
            }
        }
    }

    private mutating func nextMessage() throws(Fault) -> WirePlugMessage? {
        do {
            return try decoder.next(WirePlugMessage.self)
        } catch {
            throw .frame(error)
        }
    }

    private mutating func handle(_ message: WirePlugMessage, now: Instant, _ actions: inout [Action]) throws(Fault) {
        // Messages of a later version are skipped.
        guard let kind = message.kind else { return }
        if case .goodbye(let wire) = kind {
            phase = .ended
            actions.append(.close(.endedByPeer(wire.model)))
            actions.append(.deliver(.ended(.endedByPeer(wire.model))))
            return
        }
        switch phase {
        case .idle, .ended:
            preconditionFailure("nothing is read outside a connection")
        case .greeting(let asked):
            guard case .welcome(let welcome) = kind else { throw .order("The first message must be Welcome.") }
            try greeted(welcome, asked: asked, now: now, &actions)
        case .established(let plug):
            do {
                try handle(kind, of: plug, now: now, &actions)
            } catch let fault as MessageFault {
                throw .message(fault)
            } catch let fault as Fault {
                throw fault
            } catch {
                preconditionFailure("no other error is thrown here: \(error)")
            }
        }
    }

    private mutating func greeted(
        _ welcome: WireWelcome, asked: Instant, now: Instant, _ actions: inout [Action]
    ) throws(Fault) {
        guard welcome.version == PlugWire.version else {
            let detail =
                "The controller uses protocol version \(PlugWire.version), the plug version \(welcome.version): update "
                + (welcome.version > PlugWire.version ? "the controller." : "the plug's firmware.")
            return end(Goodbye(.version, detail), now: now, &actions)
        }
        do {
            var plug = try welcome.model(asked: asked, answered: now)
            plug.clock = clock?.refined(by: plug.clock) ?? plug.clock
            clock = plug.clock
            phase = .established(plug)
            actions.append(.deliver(.welcomed(plug)))
            if let wanted = wantedAudit { fetchAudit(after: wanted.after, limit: wanted.limit, &actions) }
            if let wanted = wantedLog { followLog(wanted.level, for: wanted.duration, &actions) }
        } catch {
            throw .message(error)
        }
    }

    private mutating func handle(
        _ kind: WirePlugMessage.OneOf_Kind, of plug: PlugDescription, now: Instant, _ actions: inout [Action]
    ) throws {
        switch kind {
        case .welcome:
            throw Fault.order("The plug sent Welcome twice.")
        case .subscribed(let wire):
            try subscribed(wire, &actions)
        case .snapshot(let wire):
            actions.append(.deliver(.snapshot(try wire.state.model())))
        case .event(let wire):
            try event(wire, of: plug, now: now, &actions)
        case .state(let wire):
            actions.append(.deliver(.state(try wire.state.model())))
        case .result(let wire):
            let (request, outcome) = try wire.model()
            // An answer after the deadline is still valid.
            commands.removeAll { $0.request == request }
            actions.append(.deliver(.commandFinished(request, outcome)))
        case .samples(let wire):
            guard fetches.contains(wire.fetchID) else {
                throw Fault.order("The plug sent samples that were not requested.")
            }
            if wire.last { fetches.removeAll { $0 == wire.fetchID } }
            actions.append(.deliver(.samples(fetch: wire.fetchID, chunk: Array(wire.chunk), last: wire.last)))
        case .controllers(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.controllers(try wire.model()))))
        case .invitation(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.invited(for: .seconds(Int64(wire.seconds))))))
        case .invitations(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.invitations(try wire.model()))))
        case .newCode:
            try takeAnswer()
            actions.append(.deliver(.answer(.codeChanged)))
        case .homekit(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.homeKit(try wire.model()))))
        case .matter(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.matter(try wire.model()))))
        case .update(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.update(try wire.model()))))
        case .wifi(let wire):
            try takeAnswer()
            actions.append(.deliver(.answer(.wiFi(try wire.model()))))
        case .nextKey(let wire):
            guard let next = PublicKey(bytes: wire.key) else {
                throw Fault.message(.length(field: "key", bytes: wire.key.count, allowed: 1...PublicKey.longest))
            }
            actions.append(.deliver(.nextKey(next)))
        case .keyAccepted:
            try takeAnswer()
            actions.append(.deliver(.answer(.keyAccepted)))
        case .refused(let wire):
            if wire.request == "fetch_audit", auditAfter != nil { auditAfter = nil } else { try takeAnswer() }
            actions.append(.deliver(.answer(.refused(wire.request, Refusal(wire.code.model, wire.detail)))))
        case .descriptionChanged(let wire):
            let settings = wire.hasSettings ? wire.settings.model : nil
            let name = try WireScalar.name(wire.name, "name")
            let given = wire.givenName.isEmpty ? name : try WireScalar.name(wire.givenName, "given_name")
            actions.append(.deliver(.described(name: name, given: given, settings)))
        case .logAnswer(let wire):
            guard asksForLog else { throw Fault.order("The plug sent an answer about its log that was not requested.") }
            if let update = wire.model { actions.append(.deliver(.log(update))) }
        case .logLines(let wire):
            try logLines(wire, &actions)
        case .audit(let wire):
            guard let after = auditAfter else {
                throw Fault.order("The plug sent a page of the audit log that was not requested.")
            }
            auditAfter = nil
            actions.append(.deliver(.answer(.audit(.success(try wire.model(session: plug.boot, after: after))))))
        case .pairingChallenge, .pairingProof:
            throw Fault.order("The plug sent a pairing message during a session.")
        case .ping(let wire):
            say { $0.pong.token = wire.token }
        case .pong(let wire):
            try answered(wire, by: plug, now: now)
        case .goodbye:
            preconditionFailure("Goodbye was handled before")
        }
    }

    private mutating func takeAnswer() throws {
        guard answersDue > 0 else {
            throw Fault.order("The plug sent an answer that was not requested.")
        }
        answersDue -= 1
    }

    /// Updates the clock mapping from the answer to the last Ping.
    private mutating func answered(_ wire: WirePong, by plug: PlugDescription, now: Instant) throws {
        guard wire.token == lastPing.token, wire.hasPlugTime else { return }
        let measurement = ClockMapping(
            boot: plug.boot, plugTime: try WireScalar.instant(wire.plugTime, "plug_time"), asked: lastPing.at,
            answered: now)
        clock = clock?.refined(by: measurement) ?? measurement
    }

    private mutating func subscribed(_ wire: WireSubscribed, _ actions: inout [Action]) throws {
        let next = try WireScalar.sequence(wire.nextSequence, "next_sequence")
        let gap = wire.hasGap ? try wire.gap.model() : nil
        if let gap, case .open(let expected) = lane {
            // The plug sent this without a request, because its journal evicted events that it had not sent, or skipped
            // numbers.
            guard gap.from == expected else {
                throw Fault.order("The plug sent a gap from \(gap.from); event \(expected) was expected.")
            }
            lane = .open(expected: gap.to + 1)
        } else {
            guard let asked = subscribing else { throw Fault.order("The plug sent Subscribed without a request.") }
            subscribing = nil
            switch asked.events {
            case .none: lane = .closed
            case .fromNow: if case .closed = lane { lane = .open(expected: next) }
            case .after(let cursor): lane = .open(expected: try begin(after: cursor, gap))
            }
            subscribeIfFree()
        }
        if case .open(let expected) = lane, expected > next {
            throw Fault.order("Event \(expected) was expected, but the plug's next number is \(next).")
        }
        actions.append(.deliver(.subscribed(next: next, gap: gap)))
    }

    /// Returns the first number of a lane that was requested after `cursor`.
    private func begin(after cursor: SequenceNumber, _ gap: Gap?) throws -> SequenceNumber {
        guard let gap else { return cursor + 1 }
        switch gap.reason {
        case .unknownCursor: break
        case .powerLost, .overwritten, .storageFailed, .factoryReset, .unknown:
            guard gap.from == cursor + 1 else {
                throw Fault.order("The plug sent a gap from \(gap.from); event \(cursor + 1) was requested.")
            }
        }
        return gap.to + 1
    }

    private mutating func event(
        _ wire: WireEvent, of plug: PlugDescription, now: Instant, _ actions: inout [Action]
    ) throws {
        let sequence = try WireScalar.sequence(wire.sequence, "sequence")
        guard case .open(let expected) = lane else {
            throw Fault.order("The plug sent an event that was not requested.")
        }
        guard sequence == expected else {
            throw Fault.order("The plug sent event \(sequence); \(expected) was expected.")
        }
        lane = .open(expected: expected + 1)
        guard let event = try wire.model(session: plug.boot) else {
            return actions.append(.deliver(.unknownEvent(sequence)))
        }
        actions.append(.deliver(.event(event, age: try age(of: event, wire, plug, now: now))))
    }

    /// Returns the age of an event: the age that the plug sent, or more if the message was delayed. Returns nil if it
    /// is unknown, as for an event of another boot.
    private func age(
        of event: PlugEvent, _ wire: WireEvent, _ plug: PlugDescription, now: Instant
    ) throws(MessageFault) -> Duration? {
        guard wire.hasAgeMs, event.boot == plug.boot, let clock else { return nil }
        let measured: Duration = now - clock.instant(ofPlugTime: event.time)
        return max(try WireScalar.age(wire.ageMs), measured - clock.uncertainty(at: now))
    }
}
