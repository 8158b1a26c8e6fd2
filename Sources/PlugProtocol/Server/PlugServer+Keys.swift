import PlugModel
internal import ProtocolCore

/// Key rotation of controllers without a new pairing. A controller announces its next key in a session of its current
/// key. Both keys are valid until the first session with the next key, so a power loss or a crash cannot lock the
/// controller out.
extension PlugServer {
    /// The detail of the audit entry for a replaced announcement. It contains no key, so that repetitions are counted
    /// in one entry.
    static let replacedKeyDetail = "its announced key was replaced"

    /// Stores an announced key. The answer follows ``Action/keep(_:)``, so it is sent after the key is in flash.
    mutating func announceKey(
        _ wire: WireAnnounceKey, from connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard let next = PublicKey(bytes: wire.key) else {
            throw .length(field: "key", bytes: wire.key.count, allowed: 1...PublicKey.longest)
        }
        guard let session = sessions[connection], let controller = access.controllers[session.key] else { return }
        guard next != (controller.nextKey ?? controller.key) else {
            // The key is already announced and stored, or it is the current key while no other key is announced.
            sessions[connection]?.say { $0.keyAccepted = WireKeyAccepted() }
            return
        }
        // The budget is charged before the signatures are verified, which takes longer than any other request.
        guard
            spendWrites(PeerBudgets.writesOfAnnouncement, for: .announce_key, of: connection, now: now)
        else { return }
        let announcement = KeyAnnouncement(
            plug: identity.id, key: session.key, nextKey: next, nonce: session.nonce)
        // If the announced key is the session's own key, TLS has already verified it.
        let isProved = next == session.key || announcement.isSigned(wire.signature, by: next)
        guard isProved, next != access.key, next != access.nextKey else {
            let detail =
                "The controller has not proved that it holds the announced key; update the controller if it is old."
            return refuse(.announce_key, Refusal(.outOfRange, detail), to: connection)
        }
        if let pending = controller.nextKey, session.key != pending,
            !announcement.isSigned(wire.pendingSignature, by: pending)
        {
            let detail =
                "Another next key of this controller (\(pending.fingerprint.prefix(AuditActor.keyDigits))) is already announced, and only "
                + "its holder can replace it. If you did not announce it, another person has a copy of this controller's key: pair again."
            return refuse(.announce_key, Refusal(.outOfRange, detail), to: connection)
        }
        let replaces = controller.nextKey != nil
        guard access.controllers.announce(next, of: session.key) else {
            let detail = "A different paired controller has this key."
            return refuse(.announce_key, Refusal(.outOfRange, detail), to: connection)
        }
        // The audit log notifies the owners: the controller may have started its rotation again, or another program
        // uses a copy of its key.
        if replaces { note(.keyRotated, of: connection, Self.replacedKeyDetail) }
        actions.append(.keep(access.controllers))
        sessions[connection]?.say { $0.keyAccepted = WireKeyAccepted() }
    }

    /// Consumes writes from the controller's budget. Refuses the request and returns false if the budget does not
    /// permit the writes.
    mutating func spendWrites(
        _ writes: Int, for request: AskedRequest, of connection: ConnectionID, now: Instant
    ) -> Bool {
        guard writes > 0 else { return true }
        guard let controller = sessions[connection].flatMap({ access.controllers[$0.key] }),
            spend(writes: writes, of: controller, now: now)
        else {
            refuse(request, .tooManyWrites, to: connection)
            return false
        }
        return true
    }

    // MARK: The plug's own key

    /// Announces the plug's next key to all sessions. The key is new, or was announced before a restart.
    mutating func announceOwnKey(_ next: PublicKey) {
        access.nextKey = next
        for session in sessions.all where session.isEstablished { sendNextKey(to: session.connection) }
    }

    mutating func sendNextKey(to connection: ConnectionID) {
        guard let next = access.nextKey else { return }
        sessions[connection]?.say { $0.nextKey.key = .init(next.bytes) }
    }

    mutating func noteKept(
        _ wire: WireNextKeyKept, from connection: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let next = access.nextKey, next.bytes.elementsEqual(wire.key), let key = sessions[connection]?.key,
            let controller = access.controllers[key], controller.knownNext != AuthorityID(next),
            // Without budget nothing is stored; the controller confirms the key again in its next session.
            spend(writes: 1, of: controller, now: now)
        else { return }
        access.controllers.note(plugsNext: next, of: key)
        actions.append(.keep(access.controllers))
    }

    /// Replaces the plug's key by the announced next one. New connections use it.
    mutating func rotateOwnKey() {
        guard let next = access.nextKey.take() else { return }
        access.key = next
        add(AuditNote(.keyRotated, by: .panel, "the plug's own"))
    }

    /// If this is the first session with an announced key, removes the previous key, ends the sessions with it, and
    /// revokes the controller's invitations.
    mutating func completeKeyRotation(of connection: ConnectionID, now: Instant, _ actions: inout [Action]) {
        guard let key = sessions[connection]?.key, let old = access.controllers.turn(to: key) else { return }
        access.times.move(from: old, to: key)
        if let controller = access.controllers[key] { access.invitations.revoke(by: controller.authority) }
        actions.append(.keep(access.controllers))
        note(.keyRotated, of: connection, "")
        for other in sessions.all.filter({ $0.key == old }) {
            end(other.connection, Goodbye(.stopping, "This controller has a new key."), now: now, &actions)
        }
    }
}
