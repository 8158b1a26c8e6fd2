internal import MatterWire
internal import ProtocolCore

/// A secure unicast session: keys, counters, and the peer's address and activity (Matter 4.13).
struct SecureSession: Sendable {
    /// The owner of a share of the session table.
    enum Owner: Hashable, Sendable {
        /// Peers that know the passcode.
        case commissioners
        case fabric(UInt8)
    }

    let id: UInt16
    let kind: SessionKind
    private let keys: NewSession
    private var counter: MessageCounter
    private var window = ReplayWindow(.ascending)
    private var address: MatterPeer
    /// The time of the last message from the peer.
    private var heardAt: Instant
    /// The time of the last message in either direction.
    private(set) var usedAt: Instant

    init(_ keys: NewSession, peer: MatterPeer, counter: MessageCounter, now: Instant) {
        (id, kind, self.keys, address, self.counter) = (keys.localID, keys.kind, keys, peer, counter)
        (heardAt, usedAt) = (now, now)
    }

    var peer: MatterPeer { address }

    var context: SessionContext {
        SessionContext(id: .secure(id), kind: kind, peer: peer, attestationChallenge: keys.attestationChallenge)
    }

    var owner: Owner {
        switch kind {
        case .commissioning: .commissioners
        case .operational(let peer): .fabric(peer.fabric)
        }
    }

    /// Returns the peer's interval of retransmissions (Matter 4.12.8).
    func interval(now: Instant) -> Duration {
        now - heardAt <= keys.parameters.activeThreshold
            ? keys.parameters.activeInterval : keys.parameters.idleInterval
    }

    /// Returns the decrypted protocol header and payload, and whether the message is new. Returns nil if the message
    /// is not authentic, or so old that it may be a duplicate.
    func open(
        _ header: MessageHeader, headerBytes: ArraySlice<UInt8>, _ sealed: ArraySlice<UInt8>,
        _ cryptography: any MatterCryptography
    ) -> (plain: [UInt8], isNew: Bool)? {
        let verdict = window.verdict(of: header.counter)
        guard verdict != .unknown else { return nil }
        let nonce = header.nonce(node: keys.peerNode)
        guard
            let plain = try? cryptography.open(
                Array(sealed), key: keys.receiveKey, nonce: nonce, authenticating: Array(headerBytes))
        else { return nil }
        return (plain, verdict == .new)
    }

    /// Records a new, authenticated message. The session continues with the address of its newest message, because the
    /// peer's address can change.
    mutating func accept(_ counter: UInt32, from peer: MatterPeer, now: Instant) {
        if window.isHighest(counter) { address = peer }
        window.record(counter)
        (heardAt, usedAt) = (now, now)
    }

    /// Encrypts a message. Returns nil if the counters are used up or the cryptography fails.
    mutating func seal(
        _ plain: [UInt8], _ cryptography: any MatterCryptography, now: Instant
    ) -> (datagram: [UInt8], counter: UInt32)? {
        guard let number = counter.next() else { return nil }
        let header = MessageHeader(sessionID: keys.peerID, counter: number)
        let headerBytes = header.encoded
        let nonce = header.nonce(node: keys.localNode)
        guard
            let sealed = try? cryptography.seal(
                plain, key: keys.sendKey, nonce: nonce, authenticating: headerBytes)
        else { return nil }
        usedAt = now
        return (headerBytes + sealed, number)
    }
}

extension MessageHeader {
    /// The nonce of a message (Matter 4.8.1.1).
    ///
    /// - Parameter node: the sender's node id; 0 for PASE.
    func nonce(node: UInt64) -> [UInt8] {
        [securityFlags] + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
            + (0..<8).map { UInt8(truncatingIfNeeded: node >> (8 * UInt64($0))) }
    }
}
