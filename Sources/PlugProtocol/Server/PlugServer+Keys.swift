import PlugModel
internal import ProtocolCore

/// A controller takes another key without pairing anew: it announces that in a session of its old one. Either key counts until the
/// first session of the new one, so that no loss of power and no end of a program, at whatever moment, locks it out.
extension PlugServer {
    /// Answered when flash has it: what is said after ``Action/keep(_:)`` waits for that.
    mutating func announceKey(
        _ wire: WireAnnounceKey, from index: Int, _ actions: inout [Action]
    ) throws(MessageFault) {
        guard let next = PublicKey(bytes: wire.key) else {
            throw .length(field: "key", bytes: wire.key.count, allowed: 1...PublicKey.longest)
        }
        guard access.controllers.announce(next, of: sessions[index].key) else {
            let detail = "Another controller that is paired with the plug has this key."
            return refuse(.announce_key, Refusal(.outOfRange, detail), to: index)
        }
        actions.append(.keep(access.controllers))
        sessions[index].say { $0.keyAccepted = WireKeyAccepted() }
    }

    // MARK: The plug's own key

    /// The plug has drawn its next key, or goes on with one of before.
    mutating func announceOwnKey(_ next: PublicKey) {
        access.nextKey = next
        for index in sessions.indices where sessions[index].isEstablished { tellNextKey(to: index) }
    }

    mutating func tellNextKey(to index: Int) {
        guard let next = access.nextKey else { return }
        sessions[index].say { $0.nextKey.key = .init(next.bytes) }
    }

    mutating func noteKept(_ wire: WireNextKeyKept, from index: Int, _ actions: inout [Action]) {
        guard let next = access.nextKey, next.bytes.elementsEqual(wire.key) else { return }
        access.controllers.note(plugsNext: next, of: sessions[index].key)
        actions.append(.keep(access.controllers))
    }

    /// Its connections show the next key from now on.
    mutating func turnOwnKey() {
        guard let next = access.nextKey.take() else { return }
        access.key = next
        notes.append(AuditNote(.keyRotated, by: .panel, "the plug's own"))
    }

    /// Where the session is the first with a key that was announced, the one of before counts no more.
    ///
    /// - Returns: where the session is now.
    mutating func turnKey(of index: Int, now: Instant, _ actions: inout [Action]) -> Int {
        let (key, connection) = (sessions[index].key, sessions[index].connection)
        guard let old = access.controllers.turn(to: key) else { return index }
        access.times.move(from: old, to: key)
        actions.append(.keep(access.controllers))
        note(.keyRotated, of: index, "")
        while let other = sessions.firstIndex(where: { $0.key == old }) {
            end(other, Goodbye(.stopping, "This controller has another key now."), now: now, &actions)
        }
        guard let index = self.index(of: connection) else { preconditionFailure("the session itself does not end") }
        return index
    }
}
