import Crypto
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore

extension FuzzTarget {
    /// Decodes a certificate of a fabric, an attestation certificate or a signing request; the first byte selects the
    /// form. Only the unchanged operational certificate is valid for the root that issued it.
    static let matterCertificate = FuzzTarget(
        name: "matter-certificate",
        seeds: { FuzzedFabric.certificates },
        check: { bytes in
            guard let form = bytes.first else { return false }
            let content = Array(bytes.dropFirst())
            switch form {
            case 1: return (try? AttestationCertificate(decoding: content)) != nil
            case 2: return (try? SigningRequest.publicKey(of: content)) != nil
            default:
                guard let certificate = try? MatterCertificate(decoding: content) else { return false }
                let again = try? MatterCertificate(decoding: certificate.encoded)
                try require(again == certificate, "a certificate changes")
                try require(!certificate.toBeSigned.isEmpty, "a certificate has no signed bytes")
                guard let root = FuzzedFabric.root else { return true }
                let identity = try? CertificateChain.verify(operational: certificate, intermediate: nil, root: root)
                try require(
                    identity == nil || certificate.toBeSigned == FuzzedFabric.operational?.toBeSigned,
                    "a changed certificate is valid")
                return true
            }
        })

    /// Sends messages to the responders of both handshakes. The first byte of each datagram is the opcode. A peer
    /// without the passcode or a certificate does not get a session. The input is valid if a message is answered.
    static let matterHandshake = FuzzTarget(
        name: "matter-handshake",
        seeds: { (try? FuzzedHandshake.seeds()) ?? [] },
        check: { bytes in
            let handshake = try FuzzedHandshake()
            guard let first = bytes.first else { return false }
            return try handshake.isAnswered(
                isPASE: first & 1 == 0, datagrams(in: Array(bytes.dropFirst())).prefix(8))
        })

    /// Sends datagrams to a message layer with one secure session. ``FuzzedMessages`` describes their form. The layer
    /// delivers no message twice, keeps its limits, and all exchanges end. The input is valid if a message is
    /// delivered.
    static let matterMessages = FuzzTarget(
        name: "matter-messages",
        seeds: { (try? FuzzedMessages.seeds()) ?? [] },
        check: { bytes in
            var messages = try FuzzedMessages()
            for datagram in datagrams(in: bytes).prefix(64) { try messages.receive(datagram) }
            try messages.rest()
            return messages.isUnderstood
        })
}

/// Certificates of one fabric. Their keys are equal in each run, and their signatures differ.
private enum FuzzedFabric {
    private struct Chain: Sendable {
        var issuer: CertificateIssuer
        var operational: MatterCertificate
        var key: P256.Signing.PrivateKey
    }

    private static let chain: Chain? = {
        var randomness = MatterRandomness(seed: Array(0..<32))
        let key = randomness.signingKey()
        guard let issuer = try? CertificateIssuer.root(id: 1, fabricID: 5, randomness: &randomness),
            let operational = try? issuer.operational(
                publicKey: Array(key.publicKey.x963Representation), nodeID: 2, fabricID: 5, tags: [0x0001_0001],
                randomness: &randomness)
        else { return nil }
        return Chain(issuer: issuer, operational: operational, key: key)
    }()

    static var root: MatterCertificate? { chain?.issuer.certificate }
    static var operational: MatterCertificate? { chain?.operational }

    static var certificates: [[UInt8]] {
        guard let chain, let request = try? SigningRequest.encode(key: chain.key) else { return [] }
        return [[0] + chain.issuer.certificate.encoded, [0] + chain.operational.encoded, [2] + request]
    }

    /// A node of the fabric of ``root``, for CASE.
    static func fabric() throws -> CASEFabric {
        guard let chain else { throw FuzzFailure("no certificates") }
        return try CASEFabric(
            index: 1, root: chain.issuer.certificate, intermediate: nil, operational: chain.operational,
            key: Array(chain.key.rawRepresentation), epochKeys: [Array(repeating: 6, count: 16)])
    }
}

/// The responders of both handshakes, with fixed randomness.
private struct FuzzedHandshake {
    private static let passcode: UInt32 = 20_202_021
    private static let responder = MatterRandomness(seed: Array(repeating: 1, count: 32))
    private static let initiator = MatterRandomness(seed: Array(repeating: 2, count: 32))
    private static let verifier = Result {
        try SpakeVerifier(
            passcode: passcode, salt: Array(repeating: 3, count: 16), iterations: 1000, try OpenSSLCryptography())
    }

    private let cryptography: OpenSSLCryptography
    private let verifier: SpakeVerifier

    init() throws { (cryptography, verifier) = (try OpenSSLCryptography(), try Self.verifier.get()) }

    private var pase: PASEResponder { PASEResponder(verifier, sessionID: 1, randomness: Self.responder) }

    private func sigmaResponder() throws -> CASEResponder {
        CASEResponder(fabrics: [try FuzzedFabric.fabric()], sessionID: 1, randomness: Self.responder)
    }

    func isAnswered(isPASE: Bool, _ messages: some Sequence<[UInt8]>) throws -> Bool {
        var (pase, sigma) = (pase, try sigmaResponder())
        var isAnswered = false
        for message in messages {
            guard let opcode = message.first.flatMap(SecureChannelOpcode.init(rawValue:)) else { continue }
            let payload = Array(message.dropFirst())
            let result =
                isPASE ? pase.handle(opcode, payload, cryptography) : sigma.handle(opcode, payload, cryptography)
            switch result {
            case .reply(_, let reply):
                try require(reply.count <= MessageLayer.payloadLimit, "the reply is too long")
                isAnswered = true
            case .finished(let reply, let session):
                // The seeds contain the confirmation of an initiator that knows the passcode.
                try require(isPASE && reply != nil, "an unknown node has a session")
                try require(session.sendKey != session.receiveKey, "the keys of both directions are equal")
                isAnswered = true
            case .failed(_, let error): try require(!error.description.isEmpty, "a failure has no reason")
            }
        }
        return isAnswered
    }

    /// A complete PASE handshake, one with a wrong passcode, and the first message of CASE. Later messages of CASE
    /// contain signatures, which differ in each run.
    static func seeds() throws -> [[UInt8]] {
        let handshake = try FuzzedHandshake()
        let fabric = try FuzzedFabric.fabric()
        var sigma = CASEInitiator(fabric: fabric, peer: fabric.nodeID, sessionID: 2, randomness: Self.initiator)
        let (opcode, payload) = try sigma.start(handshake.cryptography)
        return [
            [0] + framed(handshake.transcript(passcode)), [0] + framed(handshake.transcript(passcode + 1)),
            [1] + framed([[opcode.rawValue] + payload, [SecureChannelOpcode.sigma3.rawValue, 0x15, 0x18]]),
        ]
    }

    /// The messages of an initiator of PASE.
    private func transcript(_ passcode: UInt32) -> [[UInt8]] {
        var initiator = PASEInitiator(passcode: passcode, sessionID: 2, randomness: Self.initiator)
        var responder = pase
        var message = initiator.start()
        var messages = [[message.opcode.rawValue] + message.payload]
        while case .reply(let opcode, let payload) = responder.handle(message.opcode, message.payload, cryptography),
            case .reply(let next, let content) = initiator.handle(opcode, payload, cryptography)
        {
            message = (next, content)
            messages.append([next.rawValue] + content)
        }
        return messages
    }
}
