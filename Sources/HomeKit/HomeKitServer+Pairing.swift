internal import ProtocolCore

extension HomeKitServer {
    private mutating func answer(
        _ message: PairingMessage, _ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) { send(HTTPResponse(.ok, .tlv8(message.encoded)), to: id, now, &actions) }

    private static func message(_ body: [UInt8]) -> PairingMessage? {
        (try? TLV8(decoding: body)).map { PairingMessage($0) }
    }

    // MARK: Pair-setup (HAP 5.6)

    mutating func pairSetup(_ body: [UInt8], of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard let message = Self.message(body), let state = message.state else {
            return send(HTTPResponse(.badRequest), to: id, now, &actions)
        }
        do throws(HomeKitError) {
            if state == 1 {
                try beginSetup(message, id, now, &actions)
            } else {
                try continueSetup(message, state, id, now, &actions)
            }
        } catch {
            setup = nil
            actions.append(.notice(.noArithmetic(error)))
            send(HTTPResponse(.internalError), to: id, now, &actions)
        }
    }

    private mutating func beginSetup(
        _ message: PairingMessage, _ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) throws(HomeKitError) {
        if setup?.session == id { setup = nil }
        guard sessions[id]?.isLocal == true else {
            actions.append(.notice(.distantSetupRefused(id)))
            let items = [TLV8.Item(PairingItem.error, [PairingError.unavailable.rawValue])]
            return answer(PairingMessage(state: 2, items), id, now, &actions)
        }
        if let error = setupError(message, now) {
            actions.append(.notice(.setupRefused(id, error)))
            var items = [TLV8.Item(PairingItem.error, [error.rawValue])]
            if error == .backoff, let delay = gate.delay(at: now) {
                items.append(TLV8.Item(PairingItem.retryDelay, [delay]))
            }
            return answer(PairingMessage(state: 2, items), id, now, &actions)
        }
        let begun: PairSetup
        if let unusedSetup {
            begun = unusedSetup
        } else {
            begun = try PairSetup(configuration.verifier, &random, arithmetic)
        }
        guard let challenge = begun.challenge else { return }
        unusedSetup = begun
        setup = (id, begun)
        sessions[id]?.beginTyping()
        answer(challenge, id, now, &actions)
    }

    /// Returns the reason to reject pair-setup, or nil if it may begin. The checks have the order of HAP 5.6.2. This
    /// server adds the last two: the delay after wrong codes, and the method and flags.
    private func setupError(_ message: PairingMessage, _ now: Instant) -> PairingError? {
        if isPaired { return .unavailable }
        if gate.isExhausted { return .maxTries }
        if setup != nil || changes.isStoring { return .busy }
        if gate.delay(at: now) != nil { return .backoff }
        // The accessory has no authentication chip and does not support transient pairings.
        guard message.method == PairingMethod.pairSetup.rawValue, message.flags & PairSetup.transientFlag == 0 else {
            return .unknown
        }
        return nil
    }

    private mutating func continueSetup(
        _ message: PairingMessage, _ state: UInt8, _ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) throws(HomeKitError) {
        guard let current = setup, current.session == id else {
            return answer(PairingMessage(state: state &+ 1, error: .unknown), id, now, &actions)
        }
        var step = current.1
        unusedSetup = nil
        let outcome = try step.handle(message, records, arithmetic)
        setup = nil
        switch outcome {
        case .answer(let message):
            setup = (id, step)
            sessions[id]?.allowStranger(now: now)
            answer(message, id, now, &actions)
        case .refused(let message): answer(message, id, now, &actions)
        case .wrongCode(let message):
            gate.failed(now: now)
            actions.append(.notice(.wrongCode(tries: gate.failures, limit: PairSetupGate.tryLimit)))
            answer(message, id, now, &actions)
        case .admit(let pairing, let message):
            sessions[id]?.work = .storing
            begin(.admit(id, pairing, message), now, &actions)
        }
    }

    // MARK: Pair-verify (HAP 5.7)

    mutating func pairVerify(_ body: [UInt8], of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard let message = Self.message(body), let state = message.state else {
            return send(HTTPResponse(.badRequest), to: id, now, &actions)
        }
        switch (state, sessions[id]?.security) {
        case (1, _):
            guard isPaired, let verify = PairVerify(message, records, &random) else {
                return answer(PairingMessage(state: 2, error: .authentication), id, now, &actions)
            }
            sessions[id]?.security = .verifying(verify)
            answer(verify.challenge, id, now, &actions)
        case (3, .verifying(let verify)):
            guard let (pairing, cipher) = verify.verify(message, records) else {
                sessions[id]?.security = .plain
                actions.append(.notice(.notVerified(id)))
                return answer(PairingMessage(state: 4, error: .authentication), id, now, &actions)
            }
            makeRoom(for: pairing.identifier, &actions)
            answer(PairingMessage(state: 4), id, now, &actions)
            actions.append(.notice(.verified(id, controller: pairing.name)))
            do throws(SessionEnd) {
                try sessions[id]?.upgrade(pairing.identifier, cipher)
            } catch {
                close(id, error, &actions)
            }
        case (_, _): answer(PairingMessage(state: state &+ 1, error: .unknown), id, now, &actions)
        }
    }

    /// Makes room for a verified session. If the limit is reached, closes the longest-silent session of the same
    /// controller, which is usually an old connection that hangs. If that controller has none, closes the
    /// longest-silent session of all.
    private mutating func makeRoom(for controller: [UInt8], _ actions: inout [Action]) {
        let verified = sessions.values.filter(\.isVerified)
        guard verified.count >= Self.verifiedLimit else { return }
        let own = verified.filter { $0.controller == controller }
        let oldest = (own.isEmpty ? verified : own).min { ($0.heardAt, $0.id) < ($1.heardAt, $1.id) }
        if let oldest { close(oldest.id, .displaced, &actions) }
    }

    // MARK: Pairings (HAP 5.10 to 5.12)

    mutating func pairings(_ body: [UInt8], of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard let message = Self.message(body), message.state == 1 else {
            return send(HTTPResponse(.badRequest), to: id, now, &actions)
        }
        guard isAdmin(id) else { return answer(PairingMessage(state: 2, error: .authentication), id, now, &actions) }
        let identifier = message.items[PairingItem.identifier]
        let refused = PairingMessage(state: 2, error: .unknown)
        switch message.method.flatMap(PairingMethod.init) {
        case .listPairings: answer(Self.list(records), id, now, &actions)
        case .addPairing:
            guard
                let pairing = ControllerPairing(
                    identifier: identifier, publicKey: message.items[PairingItem.publicKey],
                    isAdmin: (message.items[PairingItem.permissions]?.first ?? 0) & 1 != 0)
            else { return answer(refused, id, now, &actions) }
            sessions[id]?.work = .storing
            begin(.add(id, pairing), now, &actions)
        case .removePairing:
            guard let identifier else { return answer(refused, id, now, &actions) }
            sessions[id]?.work = .storing
            begin(.remove(id, identifier), now, &actions)
        case .pairSetup, nil: answer(refused, id, now, &actions)
        }
    }

    private func isAdmin(_ id: HomeKitSessionID) -> Bool {
        sessions[id]?.controller.flatMap { records.pairing(of: $0) }?.isAdmin ?? false
    }

    private static func list(_ records: HomeKitRecords) -> PairingMessage {
        var items: [TLV8.Item] = []
        for (index, pairing) in records.pairings.enumerated() {
            if index > 0 { items.append(TLV8.Item(PairingItem.separator, [])) }
            items.append(TLV8.Item(PairingItem.identifier, pairing.identifier))
            items.append(TLV8.Item(PairingItem.publicKey, pairing.publicKey))
            items.append(TLV8.Item(PairingItem.permissions, [pairing.isAdmin ? 1 : 0]))
        }
        return PairingMessage(state: 2, items)
    }

    // MARK: Changes of the records

    /// Starts to store the changed records. A change that is rejected or has no effect is answered immediately. While
    /// another change is being stored, the change waits, or is rejected if the queue is full.
    mutating func begin(_ change: RecordChanges.Change, _ now: Instant, _ actions: inout [Action]) {
        guard !changes.isStoring else {
            if !changes.wait(change) { end(change, error: .unknown, now, &actions) }
            return
        }
        switch result(of: change) {
        case .failure(let error): end(change, error: error, now, &actions)
        case .success(let next) where next == records: end(change, error: nil, now, &actions)
        case .success(let next):
            changes.begin(change, next)
            actions.append(.store(next))
        }
    }

    private func result(of change: RecordChanges.Change) -> Result<HomeKitRecords, ChangeRefusal> {
        var next = records
        switch change {
        case .adopt(let shape): next.adopt(shape: shape)
        case .admit(_, let pairing, _):
            guard !isPaired else { return .failure(.unavailable) }
            next.put(pairing)
        case .withdraw(let pairing):
            if next.pairing(of: pairing.identifier) == pairing { next.remove(pairing.identifier) }
        case .add(let id, let pairing):
            guard isAdmin(id) else { return .failure(.authentication) }
            if let known = next.pairing(of: pairing.identifier) {
                guard known.publicKey == pairing.publicKey else { return .failure(.unknown) }
            } else {
                guard next.pairings.count < HomeKitRecords.pairingLimit else { return .failure(.maxPeers) }
            }
            next.put(pairing)
            // The last administrator must keep that role: otherwise no controller could add or remove controllers.
            guard next.hasAdmin else { return .failure(.unknown) }
        case .remove(let id, let identifier):
            guard isAdmin(id) else { return .failure(.authentication) }
            next.remove(identifier)
        case .dismiss(let identifier?): next.remove(identifier)
        case .dismiss(nil): next.removeAll()
        }
        return .success(next)
    }

    mutating func stored(_ isStored: Bool, _ now: Instant, _ actions: inout [Action]) {
        guard let (change, next) = changes.end() else { return }
        if isStored {
            let before = records
            records = next
            end(change, error: nil, now, &actions)
            tellPairings(before, &actions)
        } else {
            actions.append(.notice(.notStored))
            end(change, error: .unknown, now, &actions)
        }
        // The loop starts waiting changes until one is being stored.
        while !changes.isStoring, let waiting = changes.next() { begin(waiting, now, &actions) }
    }

    /// Answers the session that requested the change.
    private mutating func end(
        _ change: RecordChanges.Change, error: ChangeRefusal?, _ now: Instant, _ actions: inout [Action]
    ) {
        switch change {
        case .adopt, .withdraw, .dismiss: break
        case .admit(let id, let pairing, let message):
            if sessions[id] == nil, error == nil {
                // The session ended before the answer. The accessory would be paired with a controller that does not
                // know it, and no other controller could pair.
                return begin(.withdraw(pairing), now, &actions)
            }
            finish(id, error.map { PairingMessage(state: 6, error: $0) } ?? message, now, &actions)
        case .add(let id, _), .remove(let id, _):
            finish(id, error.map { PairingMessage(state: 2, error: $0) } ?? PairingMessage(state: 2), now, &actions)
        }
    }

    private mutating func finish(
        _ id: HomeKitSessionID, _ message: PairingMessage, _ now: Instant, _ actions: inout [Action]
    ) {
        guard sessions[id] != nil else { return }
        sessions[id]?.work = .none
        sessions[id]?.allowStranger(now: now)
        answer(message, id, now, &actions)
        endRemovedSessions(&actions)
        proceed(id, now, &actions)
    }

    /// Closes the sessions of controllers whose pairing was removed (HAP 5.11).
    private mutating func endRemovedSessions(_ actions: inout [Action]) {
        for id in sessions.keys.sorted() {
            guard let controller = sessions[id]?.controller, records.pairing(of: controller) == nil else { continue }
            close(id, .removed, &actions)
        }
    }

    private mutating func tellPairings(_ before: HomeKitRecords, _ actions: inout [Action]) {
        endRemovedSessions(&actions)
        for pairing in before.pairings where records.pairing(of: pairing.identifier) == nil {
            actions.append(.notice(.removed(controller: pairing.name)))
        }
        for pairing in records.pairings where before.pairing(of: pairing.identifier) != pairing {
            actions.append(
                .notice(
                    before.pairings.isEmpty
                        ? .paired(controller: pairing.name)
                        : .added(controller: pairing.name, isAdmin: pairing.isAdmin)))
        }
        if before.pairings.isEmpty != records.pairings.isEmpty {
            actions.append(.pairingsChanged(isPaired: isPaired))
        }
    }
}

private typealias ChangeRefusal = PairingError
extension PairingError: Error {}
