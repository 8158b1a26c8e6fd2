import PlugModel
internal import ProtocolCore

extension PlugServer {
    /// A controller asks to be paired: it gets the plug's nonce while the window is open.
    mutating func challenge(
        _ request: WirePairingRequest, from index: Int, since: Instant, now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard request.version == PlugWire.version else {
            return end(index, Goodbye(version: request.version), now: now, &actions)
        }
        guard access.takesProofs(at: now) else {
            note(.pairingFailed, of: index, isRefused: true, "the pairing window is closed")
            return end(index, .pairingClosed, now: now, &actions)
        }
        let name = try WireScalar.name(request.controller, "controller")
        let transcript = PairingTranscript(
            version: request.version, plug: identity.id, plugKey: access.key, controllerKey: sessions[index].key,
            plugNonce: sessions[index].nonce, controllerNonce: try WireScalar.nonce(request.nonce))
        sessions[index].phase = .challenged(since: since, ServerSession.Pairing(name: name, transcript: transcript))
        let nonce = sessions[index].nonce
        let id = identity.id.rawValue
        sessions[index].say {
            $0.pairingChallenge.plugID = id
            $0.pairingChallenge.nonce = .init(nonce)
        }
    }

    /// Looks at the proofs that wait, oldest first, once the gate allows it.
    ///
    /// All of them at the same time: so whoever comes while others guess is answered after one delay, however many they are.
    mutating func checkProofs(now: Instant, _ actions: inout [Action]) {
        guard access.gate.notBefore <= now else { return }
        while let index = oldestProof {
            guard case .proving(_, let pairing, let proof) = sessions[index].phase else { return }
            guard access.takesProofs(at: now) else {
                note(.pairingFailed, of: index, isRefused: true, "the pairing window is closed")
                end(index, .pairingClosed, now: now, &actions)
                continue
            }
            let fits = { (code: SetupCode) in pairing.transcript.isProof(proof, of: .controller, code: code) }
            if let (code, grant) = access.grant(at: now, fits) {
                admit(index, pairing, code, grant, now: now, &actions)
            } else {
                access.gate.failed(now: now)
                actions.append(.record(.pairingFailed(failures: access.gate.failures)))
                note(.pairingFailed, of: index, isRefused: true, "wrong setup code")
                end(index, .wrongCode, now: now, &actions)
            }
        }
    }

    /// When the next proof that waits may be looked at; nil while none waits.
    var nextProof: Instant? { oldestProof.map { _ in access.gate.notBefore } }

    private var oldestProof: Int? {
        var oldest: (index: Int, since: Instant)?
        for (index, session) in sessions.enumerated() {
            guard case .proving(let since, _, _) = session.phase, since < oldest?.since ?? Instant(nanoseconds: .max)
            else { continue }
            oldest = (index, since)
        }
        return oldest?.index
    }

    private mutating func admit(
        _ index: Int, _ pairing: ServerSession.Pairing, _ code: SetupCode, _ grant: Grant, now: Instant,
        _ actions: inout [Action]
    ) {
        let key = sessions[index].key
        let controller = PairedControllers.Controller(
            key: key, name: pairing.name, role: grant.role, secondsLeft: grant.seconds)
        guard access.controllers.add(controller) else {
            let detail = "The plug has \(PairedControllers.limit) controllers already; remove one first."
            note(.pairingFailed, of: index, isRefused: true, "\(PairedControllers.limit) controllers already")
            return end(index, Goodbye(.limit, detail), now: now, &actions)
        }
        access.gate.succeeded()
        access.invitations.use(code)
        access.times.forget(key)
        passTime(now: now, &actions)
        actions.append(.keep(access.controllers))
        actions.append(.record(.controllerPaired(name: access.controllers[key]?.name ?? pairing.name)))
        note(.paired, of: index, grant == .owner ? "" : "by invitation, as \(grant.inWords)")
        let proof = pairing.transcript.proof(of: .plug, code: code)
        sessions[index].say { $0.pairingProof.proof = .init(proof) }
        sessions[index].phase = .awaitingHello(since: now)
    }

    mutating func listControllers(to index: Int, now: Instant) {
        let asker = sessions[index].key
        let connected = Set(sessions.map(\.key))
        let list = access.controllers.all.map { controller in
            var wire = WirePairedController()
            wire.name = controller.name
            wire.fingerprint = controller.key.fingerprint
            wire.connected = connected.contains(where: controller.has)
            wire.asker = controller.has(asker)
            wire.role = WireRole(controller.role)
            if let seconds = access.times.secondsLeft(of: controller.key, now: now) { wire.secondsLeft = seconds }
            return wire
        }
        sessions[index].say { $0.controllers.controllers = list }
    }

    /// Forgets the controller and closes what it has open, the asker's own session perhaps among it.
    mutating func removeController(
        _ fingerprint: String, asker: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        if let controller = access.controllers[fingerprint: fingerprint] {
            guard !access.controllers.isLastOwner(controller) else {
                guard let index = index(of: asker) else { return }
                return refuse(.remove_controller, .lastOwner(controller.name), to: index)
            }
            let asking = index(of: asker).map { actor(of: $0) } ?? .unknown
            remove(controller, by: asking, .notPaired, now: now, &actions)
        }
        if let index = index(of: asker) { listControllers(to: index, now: now) }
    }

    /// Those who asked for the reset hear that there will be none; the others were never told of it.
    mutating func endAskersOfReset(now: Instant, _ actions: inout [Action]) {
        while let index = sessions.firstIndex(where: \.awaitsReset) {
            end(index, .resetFailed, now: now, &actions)
        }
    }
}

extension Goodbye {
    static let notPaired = Goodbye(
        .notPaired, "This controller is not paired with the plug. Pair it first: plugctl pair, and the plug's name.")
    static let pairingClosed = Goodbye(
        .pairingClosed,
        "The plug does not let itself be paired now. Hold its button for five seconds, then try within two minutes.")
    static let factoryReset = Goodbye(
        .factoryReset, "The plug is set back to factory state. Pair it anew: plugctl pair, and the plug's name.")
    static let resetFailed = Goodbye(
        .resetFailed, "The plug cannot be set back, since its flash cannot be written; it is as it was.")
    static let wrongCode = Goodbye(.wrongCode, "This is not the plug's setup code.")

    /// A controller that speaks another version than the plug.
    init(version: UInt32) {
        let side = version > PlugWire.version ? "the plug's firmware" : "the controller"
        self.init(
            .version,
            "The plug speaks version \(PlugWire.version), the controller version \(version): update \(side).")
    }
}
