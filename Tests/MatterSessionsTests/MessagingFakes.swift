import Crypto
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

/// AES-GCM instead of AES-CCM, so that the tests of messages need no C library. It has no other operations.
struct FakeCryptography: MatterCryptography {
    func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(
                plaintext, using: SymmetricKey(data: key), nonce: Self.nonce(nonce), authenticating: data)
            return Array(box.ciphertext + box.tag)
        } catch {
            throw .cryptography("\(error)")
        }
    }

    func open(
        _ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: Self.nonce(nonce), ciphertext: ciphertext.dropLast(CryptographyLengths.tag),
                tag: ciphertext.suffix(CryptographyLengths.tag))
            return Array(try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: data))
        } catch {
            throw .notAuthentic("\(error)")
        }
    }

    /// Derives the 12 bytes that AES-GCM needs from the 13 bytes of the nonce.
    private static func nonce(_ nonce: [UInt8]) throws -> AES.GCM.Nonce {
        guard nonce.count == CryptographyLengths.nonce else { throw MatterError.cryptography("nonce") }
        return try AES.GCM.Nonce(data: Array(SHA256.hash(data: nonce)).prefix(12))
    }

    func stretch(_: [UInt8], salt _: [UInt8], iterations _: Int, count _: Int) throws(MatterError) -> [UInt8] {
        throw .cryptography("not available")
    }

    func reduce(_: [UInt8]) throws(MatterError) -> [UInt8] { throw .cryptography("not available") }

    func multiply(_: [UInt8]?, by _: [UInt8]) throws(MatterError) -> [UInt8] { throw .cryptography("not available") }

    func add(_: [UInt8], _: [UInt8]) throws(MatterError) -> [UInt8] { throw .cryptography("not available") }

    func subtract(_: [UInt8], _: [UInt8]) throws(MatterError) -> [UInt8] { throw .cryptography("not available") }
}

extension Array where Element == MessageLayer.Output {
    var datagrams: [[UInt8]] { compactMap { if case .send(let bytes, _) = $0 { bytes } else { nil } } }
    var receivers: [MatterPeer] { compactMap { if case .send(_, let peer) = $0 { peer } else { nil } } }
    var messages: [IncomingMessage] { compactMap { if case .message(let message) = $0 { message } else { nil } } }
    var acknowledged: [ExchangeID] { compactMap { if case .acknowledged(let id) = $0 { id } else { nil } } }
    var failed: [ExchangeID] { compactMap { if case .failed(let id) = $0 { id } else { nil } } }
    var ended: [SessionID] { compactMap { if case .sessionEnded(let id) = $0 { id } else { nil } } }
}

extension MessageLayer {
    init(seed: UInt8) {
        self.init(
            cryptography: FakeCryptography(), randomness: MatterRandomness(seed: Array(repeating: seed, count: 32)))
    }

    mutating func opened(on session: SessionID) throws -> ExchangeID {
        let exchange = openExchange(on: session)
        return try #require(exchange)
    }

    mutating func openedHandshake(with peer: MatterPeer, now: Instant) throws -> ExchangeID {
        let exchange = openHandshake(with: peer, now: now)
        return try #require(exchange)
    }

    /// Sends a message of the interaction model.
    mutating func send(
        _ payload: [UInt8], on exchange: ExchangeID, isReliable: Bool = true, isLast: Bool = false, now: Instant
    ) -> [Output] {
        send(
            MatterProtocol.interactionModel, 8, payload, on: exchange, isReliable: isReliable, isLast: isLast, now: now)
    }
}

/// A controller and a device, with a CASE session between them. The tests transport the datagrams.
struct MessagingPair {
    static let controllerPeer = MatterPeer(address: [192, 0, 2, 1], port: 5540)
    static let devicePeer = MatterPeer(address: [192, 0, 2, 2], port: 5540)
    static let controllerSession: UInt16 = 0x1111
    static let deviceSession: UInt16 = 0x2222

    var controller = MessageLayer(seed: 1)
    var device = MessageLayer(seed: 2)
    var now = Instant.zero

    init() {
        let (left, right) = Self.sessions()
        _ = controller.add(left, peer: Self.devicePeer, now: now)
        _ = device.add(right, peer: Self.controllerPeer, now: now)
    }

    /// Returns a session as its initiator and its responder have it.
    static func sessions(
        parameters: SessionParameters = .standard
    ) -> (initiator: NewSession, responder: NewSession) {
        let (first, second) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
        func session(isInitiator: Bool) -> NewSession {
            NewSession(
                localID: isInitiator ? controllerSession : deviceSession,
                peerID: isInitiator ? deviceSession : controllerSession,
                kind: .operational(OperationalPeer(fabric: 1, node: isInitiator ? 20 : 10, tags: [])),
                isInitiator: isInitiator, sendKey: isInitiator ? first : second,
                receiveKey: isInitiator ? second : first, attestationChallenge: Array(repeating: 3, count: 16),
                localNode: isInitiator ? 10 : 20, peerNode: isInitiator ? 20 : 10, parameters: parameters)
        }
        return (session(isInitiator: true), session(isInitiator: false))
    }

    /// Opens an exchange of the controller and sends a message on it.
    mutating func request(
        _ payload: [UInt8] = [1]
    ) throws -> (exchange: ExchangeID, outputs: [MessageLayer.Output]) {
        let exchange = try controller.opened(on: .secure(Self.controllerSession))
        return (exchange, controller.send(payload, on: exchange, now: now))
    }

    mutating func deviceReceives(
        _ outputs: [MessageLayer.Output], from peer: MatterPeer = controllerPeer
    ) -> [MessageLayer.Output] {
        outputs.datagrams.flatMap { device.receive($0, from: peer, now: now) }
    }

    mutating func controllerReceives(_ outputs: [MessageLayer.Output]) -> [MessageLayer.Output] {
        outputs.datagrams.flatMap { controller.receive($0, from: Self.devicePeer, now: now) }
    }
}
