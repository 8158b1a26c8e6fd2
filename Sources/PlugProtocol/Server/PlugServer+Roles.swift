import PlugModel
internal import ProtocolCore

/// Access control by role.
extension PlugServer {
    /// Returns true if a controller removes itself, which every role may do.
    func isForItself(_ kind: WireControllerMessage.OneOf_Kind, _ connection: ConnectionID) -> Bool {
        guard case .removeController(let wire) = kind else { return false }
        return wire.fingerprint == sessions[connection]?.key.fingerprint
    }

    func refusal(of request: AskedRequest, _ role: Role) -> Refusal {
        let owners = access.controllers.owners.map(\.name)
        let named = owners.prefix(3).joined(separator: ", ") + (owners.count > 3 ? " and others" : "")
        let hint = owners.isEmpty ? "The plug has no owner." : "An owner can change this: \(named)."
        return Refusal(
            .notAllowed, "This controller is \(role.described) here and may not \(request.described). \(hint)")
    }

    /// Refuses a message other than Command because of the controller's role.
    mutating func refuse(_ request: AskedRequest, _ role: Role, to connection: ConnectionID) {
        refuse(request, refusal(of: request, role), to: connection)
    }

    mutating func refuse(_ request: AskedRequest, _ refusal: Refusal, to connection: ConnectionID) {
        note(.refused, of: connection, isRefused: true, "\(request.rawValue): \(refusal.code.words)")
        guard request != .follow_log else {
            sessions[connection]?.say { $0.logAnswer.refused = WireRefused(refusal) }
            return
        }
        sessions[connection]?.say {
            $0.refused.request = request.rawValue
            $0.refused.code = WireRefusalCode(refusal.code)
            $0.refused.detail = refusal.detail
        }
    }

    mutating func invite(_ wire: WireInvite, from connection: ConnectionID, now: Instant) throws(MessageFault) {
        guard let code = SetupCode(bytes: wire.code) else {
            throw .length(field: "code", bytes: wire.code.count, allowed: 10...10)
        }
        switch wire.grant {
        case .failure(let refusal): refuse(.invite, refusal, to: connection)
        case .success(let grant):
            guard let author = sessions[connection].flatMap({ access.controllers[$0.key]?.authority }) else { return }
            guard access.invitations.add(code, grant, by: author, now: now) else {
                let detail =
                    "\(Invitations.limit) invitations are already open: plugctl invitations lists them and can revoke one."
                return refuse(.invite, Refusal(.busy, detail), to: connection)
            }
            let seconds = UInt32(Invitations.validity.components.seconds)
            note(.invited, of: connection, grant.inWords)
            sessions[connection]?.say { $0.invitation.seconds = seconds }
        }
    }

    mutating func listInvitations(to connection: ConnectionID, now: Instant) {
        guard let asker = sessions[connection].flatMap({ access.controllers[$0.key]?.authority }) else { return }
        let open = access.invitations.open(at: now).map { invitation in
            let author = access.controllers.all.first { $0.authority == invitation.author }
            return WireOpenInvitation(
                invitation, author: author?.name ?? "", isOwn: invitation.author == asker, now: now)
        }
        sessions[connection]?.say { $0.invitations.invitations = open }
    }

    mutating func setRole(
        _ wire: WireSetRole, from connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        switch wire.grant {
        case .failure(let refusal): return refuse(.set_role, refusal, to: connection)
        case .success(let grant):
            guard let known = access.controllers[fingerprint: wire.fingerprint] else {
                let detail = "No controller with this fingerprint is paired with the plug."
                return refuse(.set_role, Refusal(.outOfRange, detail), to: connection)
            }
            guard grant.role == .owner || !access.controllers.isLastOwner(known) else {
                return refuse(.set_role, .lastOwner(known.name), to: connection)
            }
            access.controllers.setRole(grant, of: known.key)
            access.times.forget(known.key)
            if grant.role != .owner { access.invitations.revoke(by: known.authority) }
            note(.roleChanged, of: connection, "\(known.inWords): \(known.role.rawValue) to \(grant.inWords)")
            applyRole(of: known.key)
            // Computes the stored part of a limited time before flash is written.
            passTime(now: now, &actions)
            actions.append(.keep(access.controllers))
        }
        listControllers(to: connection, now: now)
    }

    /// Applies a changed role to the controller's sessions. Requests in progress (for the audit log, HomeKit or Matter)
    /// that the role does not permit are refused when their answers arrive.
    mutating func applyRole(of key: PublicKey) {
        guard let controller = access.controllers[key] else { return }
        for session in sessions.all where controller.has(session.key) {
            sessions[session.connection]?.apply(role: controller.role)
            if session.log != nil, !controller.role.may(.follow_log) { endLog(session.connection) }
        }
    }

    /// Removes the controllers whose time is over, and stores the remaining times of the others if they changed.
    mutating func passTime(now: Instant, _ actions: inout [Action]) {
        let before = access.controllers
        let over = access.times.pass(&access.controllers, now: now)
        for controller in over { remove(controller, by: .plug, .timeOver, now: now, &actions) }
        if over.isEmpty, access.controllers != before { actions.append(.keep(access.controllers)) }
    }

    /// Removes the controller and its invitations, outcomes and allowances, and ends its sessions, which may include
    /// the requester's.
    mutating func remove(
        _ controller: PairedControllers.Controller, by actor: AuditActor, _ goodbye: Goodbye, now: Instant,
        _ actions: inout [Action]
    ) {
        guard access.controllers.remove(fingerprint: controller.key.fingerprint) != nil else { return }
        access.times.forget(controller.key)
        access.invitations.revoke(by: controller.authority)
        actions.append(.keep(access.controllers))
        actions.append(.record(.controllerRemoved(name: controller.name)))
        add(AuditNote(.removed, by: actor, controller.inWords))
        for session in sessions.all.filter({ controller.has($0.key) }) {
            end(session.connection, goodbye, now: now, &actions)
        }
        forgetRemovedControllers()
    }
}

extension Grant {
    /// The grant as a part of a note's detail.
    var inWords: String { seconds.map { "\(role.rawValue) for \($0) s" } ?? role.rawValue }
}

extension Refusal {
    static func lastOwner(_ name: String) -> Refusal {
        Refusal(
            .notAllowed,
            "\(name) is the last owner of this plug. Make another controller an owner first, or reset the plug."
        )
    }
}

extension Goodbye {
    static let timeOver = Goodbye(
        .notPaired, "This controller's access has expired. An owner of the plug can invite it again.")
}
