import PlugModel
import PlugProtocol
import ProtocolCore
import SimulatedLAN
import TestSupport

extension PublicKey {
    /// The key that TLS would prove. Simulated connections are not encrypted, and the peer is identified by its
    /// address, which no other host can use here.
    ///
    /// - Parameter number: the number of earlier keys of this host.
    init(of address: LANAddress, number: UInt64 = 0) {
        self.init(madeUp: address.bytes.reduce(number) { $0 << 8 | UInt64($1) })
    }
}

/// Pairs a controller with an unknown plug on a connection.
struct Introduction {
    let stream: StreamID
    private var session: PairingSession

    init(on stream: StreamID, name: String, code: SetupCode = .label) {
        self.stream = stream
        session = PairingSession(name: name, code: code)
    }

    var nextDeadline: Instant? { session.nextDeadline }

    mutating func begin(
        plug: PublicKey, own: LANAddress, random: inout SeededRandom, now: Instant
    ) -> [HostAction] {
        let nonce = (0..<PairingTranscript.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return handle(.connected(plugKey: plug, ownKey: PublicKey(of: own), nonce: nonce), now: now).actions
    }

    /// Returns the actions, and the result once pairing has ended.
    mutating func handle(
        _ event: PairingSession.Event, now: Instant
    ) -> (actions: [HostAction], result: Result<PairedPlug, PairingError>?) {
        var actions: [HostAction] = []
        var result: Result<PairedPlug, PairingError>?
        for action in session.handle(event, now: now) {
            switch action {
            case .send(let bytes): actions.append(.write(stream, bytes))
            case .close: actions.append(.close(stream))
            case .finish(let end): result = end
            }
        }
        return (actions, result)
    }
}
