import PlugModel
internal import ProtocolCore

extension PlugServer {
    /// Handles a pairing request. Answers with the plug's nonce if the plug accepts proofs.
    mutating func challenge(
        _ request: WirePairingRequest, from connection: ConnectionID, since: Instant, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        guard request.version == PlugWire.version else {
            return end(connection, Goodbye(version: request.version), now: now, &actions)
        }
        guard sessions[connection]?.isLocal != false else {
            note(.pairingFailed, of: connection, isRefused: true, "the controller is in another network")
            return end(connection, .distant, now: now, &actions)
        }
        guard access.takesProofs(at: now) else {
            note(.pairingFailed, of: connection, isRefused: true, "the pairing window is closed")
            return end(connection, .pairingClosed, now: now, &actions)
        }
        let name = try WireScalar.name(request.controller, "controller")
        if let refusal = InstanceNameRule.refusal(of: name) {
            return end(connection, Goodbye(.malformed, "controller: \(refusal.detail)"), now: now, &actions)
        }
        let controllerNonce = try WireScalar.nonce(request.nonce)
        guard let session = sessions[connection] else { return }
        let transcript = PairingTranscript(
            version: request.version, plug: identity.id, plugKey: access.key, controllerKey: session.key,
            plugNonce: session.nonce, controllerNonce: controllerNonce)
        sessions[connection]?.phase = .challenged(
            since: since, ServerSession.Pairing(name: name, transcript: transcript))
        let id = identity.id.rawValue
        sessions[connection]?.say {
            $0.pairingChallenge.plugID = id
            $0.pairingChallenge.nonce = .init(session.nonce)
        }
    }

    /// Checks the queued proofs, oldest first, once the gate allows it.
    ///
    /// All queued proofs are checked at the same time, so a legitimate controller waits for only one delay, even if
    /// many clients guess.
    mutating func checkProofs(now: Instant, _ actions: inout [Action]) {
        guard access.gate.notBefore <= now else { return }
        while let connection = oldestProof {
            guard case .proving(_, let pairing, let proof) = sessions[connection]?.phase else { return }
            guard access.takesProofs(at: now) else {
                note(.pairingFailed, of: connection, isRefused: true, "the pairing window is closed")
                end(connection, .pairingClosed, now: now, &actions)
                continue
            }
            let fits = { (code: SetupCode) in pairing.transcript.isProof(proof, of: .controller, code: code) }
            if let (code, grant) = access.grant(at: now, fits) {
                admit(connection, pairing, code, grant, now: now, &actions)
            } else {
                access.gate.failed(now: now)
                actions.append(.record(.pairingFailed(failures: access.gate.failures)))
                note(.pairingFailed, of: connection, isRefused: true, "wrong setup code")
                end(connection, .wrongCode, now: now, &actions)
            }
        }
    }

    /// The time of the next check, or nil if no proof is queued.
    var nextProof: Instant? { oldestProof.map { _ in access.gate.notBefore } }

    private var oldestProof: ConnectionID? {
        var oldest: (connection: ConnectionID, since: Instant)?
        for session in sessions.all {
            guard case .proving(let since, _, _) = session.phase, since < oldest?.since ?? Instant(nanoseconds: .max)
            else { continue }
            oldest = (session.connection, since)
        }
        return oldest?.connection
    }

    private mutating func admit(
        _ connection: ConnectionID, _ pairing: ServerSession.Pairing, _ code: SetupCode, _ grant: Grant, now: Instant,
        _ actions: inout [Action]
    ) {
        guard let key = sessions[connection]?.key else { return }
        // Pairing with an announced key is the first session with this key.
        completeKeyRotation(of: connection, now: now, &actions)
        let controller = PairedControllers.Controller(
            key: key, name: pairing.name, role: grant.role, secondsLeft: grant.seconds)
        guard access.controllers.add(controller) else {
            let detail = "The plug already has \(PairedControllers.limit) controllers; remove one first."
            note(.pairingFailed, of: connection, isRefused: true, "already \(PairedControllers.limit) controllers")
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        access.gate.succeeded()
        access.invitations.use(code)
        access.times.forget(key)
        applyRole(of: key)
        passTime(now: now, &actions)
        actions.append(.keep(access.controllers))
        actions.append(.record(.controllerPaired(name: access.controllers[key]?.name ?? pairing.name)))
        note(.paired, of: connection, grant == .owner ? "" : "by invitation, as \(grant.inWords)")
        let proof = pairing.transcript.proof(of: .plug, code: code)
        sessions[connection]?.say { $0.pairingProof.proof = .init(proof) }
        sessions[connection]?.phase = .awaitingHello(since: now)
    }

    mutating func listControllers(to connection: ConnectionID, now: Instant) {
        guard let asker = sessions[connection]?.key else { return }
        let connected = Set(sessions.all.map(\.key))
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
        sessions[connection]?.say { $0.controllers.controllers = list }
    }

    /// Removes the controller and ends its sessions, which may include the requester's. Then answers with the list of
    /// controllers. Refuses to remove the last owner.
    mutating func removeController(
        _ fingerprint: String, asker: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        if let controller = access.controllers[fingerprint: fingerprint] {
            guard !access.controllers.isLastOwner(controller) else {
                return refuse(.remove_controller, .lastOwner(controller.name), to: asker)
            }
            remove(controller, by: actor(of: asker), .notPaired, now: now, &actions)
        }
        listControllers(to: asker, now: now)
    }

    /// Ends the sessions that requested the failed reset. The other sessions were not informed about the reset.
    mutating func endAskersOfReset(now: Instant, _ actions: inout [Action]) {
        for session in sessions.all.filter(\.awaitsReset) { end(session.connection, .resetFailed, now: now, &actions) }
    }
}

extension Goodbye {
    static let notPaired = Goodbye(
        .notPaired, "This controller is not paired with the plug. Pair it first: plugctl pair NAME.")
    static let pairingClosed = Goodbye(
        .pairingClosed,
        "The plug's pairing window is closed. Hold its button for five seconds, then try again within two minutes.")
    static let distant = Goodbye(
        .notPaired,
        """
        A plug pairs only with controllers in its own network. Pair this one there first, or add its network to networks in \
        [pairing] of the plug's plugd.toml.
        """)
    static let factoryReset = Goodbye(
        .factoryReset, "The plug was reset to factory state. Pair it again: plugctl pair NAME.")
    static let resetFailed = Goodbye(
        .resetFailed, "The plug was not reset, because its flash cannot be written.")
    static let wrongCode = Goodbye(.wrongCode, "This is not the plug's setup code.")

    /// A Goodbye for a controller with a different protocol version.
    init(version: UInt32) {
        let side = version > PlugWire.version ? "the plug's firmware" : "the controller"
        self.init(
            .version,
            "The plug uses protocol version \(PlugWire.version), the controller version \(version): update \(side).")
    }
}
