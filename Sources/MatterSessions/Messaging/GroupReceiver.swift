internal import MatterWire

/// Receives messages to groups (Matter 4.16). The first message of a sender is trusted; from then on, each counter is
/// accepted once (Matter 4.18).
struct GroupReceiver: Sendable {
    private struct Sender {
        let fabric: UInt8
        let node: UInt64
        var window = ReplayWindow(.wrapping)
    }

    /// The keys of the groups to which this node belongs.
    var keys: [GroupKey] = [] {
        didSet { senders.removeAll { sender in !keys.contains { $0.fabric == sender.fabric } } }
    }
    /// The senders, at most ``MessageLayer/Limits/groupSenders``. The one that was heard most recently is the last.
    private var senders: [Sender] = []

    /// Decrypts a message to a group. Returns nil if it has no effect: no key fits, it is a duplicate, or it is not a
    /// message that a group can receive.
    mutating func open(
        _ datagram: [UInt8], _ header: MessageHeader, _ cryptography: any MatterCryptography
    ) -> GroupMessage? {
        guard !header.isControl else { return nil }
        for key in keys where key.sessionID == header.sessionID {
            guard let (counter, sender, plain) = key.open(datagram, cryptography) else { continue }
            guard let (protocolHeader, payload) = try? ProtocolHeader.decode(plain[...]),
                protocolHeader.protocolID == MatterProtocol.interactionModel, protocolHeader.isInitiator,
                !protocolHeader.needsAcknowledgement, isNew(counter, from: sender)
            else { return nil }
            return GroupMessage(sender: sender, opcode: protocolHeader.opcode, payload: Array(payload))
        }
        return nil
    }

    /// Records the counter of a message. Returns false if it may be a duplicate.
    private mutating func isNew(_ counter: UInt32, from sender: GroupSender) -> Bool {
        let place = senders.firstIndex { $0.fabric == sender.fabric && $0.node == sender.node }
        var known = place.map { senders.remove(at: $0) } ?? Sender(fabric: sender.fabric, node: sender.node)
        let isNew = known.window.verdict(of: counter) == .new
        if isNew { known.window.record(counter) }
        if senders.count >= MessageLayer.Limits.groupSenders { senders.removeFirst() }
        senders.append(known)
        return isNew
    }
}
