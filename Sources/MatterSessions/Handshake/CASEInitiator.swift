public import MatterWire

internal import Crypto

/// The initiator's side of CASE, the handshake with operational certificates (Matter 4.14.2).
public struct CASEInitiator: Sendable, CustomStringConvertible {
    private enum State: Sendable {
        case idle
        case awaitingSigma2(Attempt)
        case awaitingStatus(NewSession, ResumptionRecord)
        case ended
    }

    /// The values between Sigma1 and Sigma2.
    private struct Attempt: Sendable {
        var random: [UInt8]
        var protectionKey: [UInt8]
        var key: P256.KeyAgreement.PrivateKey
        var sigma1: [UInt8]
    }

    private let fabric: CASEFabric
    private let peer: UInt64
    private let sessionID: UInt16
    private let parameters: SessionParameters
    private let resumption: ResumptionRecord?
    private var randomness: MatterRandomness
    private var state = State.idle

    /// The record for resuming the new session, after the handshake has finished. It replaces the previous record of
    /// the peer.
    public private(set) var newResumption: ResumptionRecord?

    /// Creates the initiator of one handshake.
    ///
    /// - Parameters:
    ///   - fabric: the fabric of both nodes, with at least one identity protection key.
    ///   - peer: the node id of the responder.
    ///   - sessionID: the id of the new session, not 0.
    ///   - parameters: the parameters that this node announces.
    ///   - resumption: the record of an earlier session with the peer.
    public init(
        fabric: CASEFabric, peer: UInt64, sessionID: UInt16, parameters: SessionParameters = .standard,
        resumption: ResumptionRecord? = nil, randomness: MatterRandomness
    ) {
        self.fabric = fabric
        self.peer = peer
        self.sessionID = sessionID
        self.parameters = parameters
        self.resumption = resumption
        self.randomness = randomness
    }

    /// Returns the first message. A second call begins a new handshake.
    ///
    /// - Throws: ``MatterError`` if the fabric has no identity protection key.
    public mutating func start(
        _ cryptography: any MatterCryptography
    ) throws(MatterError) -> (opcode: SecureChannelOpcode, payload: [UInt8]) {
        guard let protectionKey = fabric.identityProtectionKeys.first else {
            throw .invalid("fabric \(fabric.index): it has no identity protection key")
        }
        let random = randomness.bytes(SigmaMessages.randomLength)
        let key = randomness.agreementKey()
        var resumed: (id: [UInt8], code: [UInt8])?
        if let resumption {
            let code = try CASEKeys.resume1Code(resumption.secret, random: random, id: resumption.id, cryptography)
            resumed = (resumption.id, code)
        }
        let destination = FabricIdentity.destinationID(
            random: random, rootPublicKey: fabric.rootPublicKey, fabricID: fabric.fabricID, nodeID: peer,
            protectionKey: protectionKey)
        let sigma1 = SigmaMessages.Sigma1(
            random: random, sessionID: sessionID, destination: destination,
            ephemeralKey: Array(key.publicKey.x963Representation), parameters: parameters, resumption: resumed
        ).encoded
        state = .awaitingSigma2(Attempt(random: random, protectionKey: protectionKey, key: key, sigma1: sigma1))
        return (.sigma1, sigma1)
    }

    /// Handles a message of the responder. After a failure or a finished handshake, all messages fail.
    public mutating func handle(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ cryptography: any MatterCryptography
    ) -> HandshakeResult {
        let previous = state
        state = .ended
        do throws(MatterError) {
            switch (previous, opcode) {
            case (.awaitingSigma2(let attempt), .sigma2): return try sigma2(payload, attempt, cryptography)
            case (.awaitingSigma2(let attempt), .sigma2Resume): return try resume(payload, attempt, cryptography)
            case (.awaitingStatus(let session, let record), .statusReport):
                do throws(MatterError) { try StatusReport.check(payload) } catch { return .failed(reply: nil, error) }
                newResumption = record
                return .finished(reply: nil, session)
            case (.idle, _), (.ended, _): return .failed(reply: nil, .unexpected("message \(opcode): no CASE runs"))
            case (_, .statusReport): return .failed(reply: nil, .reported(try StatusReport(decoding: payload)))
            case (.awaitingSigma2, _), (.awaitingStatus, _): throw .unexpected("message \(opcode) in CASE")
            }
        } catch {
            return .refused(error)
        }
    }

    /// The side without its secrets.
    public var description: String { "CASE initiator of session \(sessionID)" }

    private mutating func sigma2(
        _ payload: [UInt8], _ attempt: Attempt, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let message = try SigmaMessages.Sigma2(decoding: payload)
        let ephemeralKey = Array(attempt.key.publicKey.x963Representation)
        let secret = try HandshakeCryptography.agree(attempt.key, with: message.ephemeralKey)
        let opened = try cryptography.open(
            message.encrypted,
            key: CASEKeys.sigma2(
                secret, protectionKey: attempt.protectionKey, random: message.random,
                ephemeralKey: message.ephemeralKey, sigma1: attempt.sigma1),
            nonce: CASEKeys.sigma2Nonce, authenticating: [])
        let received = try SigmaMessages.Credentials(decoding: opened, hasResumption: true)
        let responder = try fabric.verify(
            received, ephemeralKey: message.ephemeralKey, ownEphemeralKey: ephemeralKey)
        guard responder.node == peer else { throw .notAuthentic("CASE: a different node answered") }
        let own = try fabric.credentials(ephemeralKey: ephemeralKey, peerEphemeralKey: message.ephemeralKey)
        let encrypted = try cryptography.seal(
            own.encoded,
            key: CASEKeys.sigma3(
                secret, protectionKey: attempt.protectionKey, sigma1: attempt.sigma1, sigma2: payload),
            nonce: CASEKeys.sigma3Nonce, authenticating: [])
        let sigma3 = SigmaMessages.sigma3(encrypted: encrypted)
        let session = CASEKeys.session(
            secret, protectionKey: attempt.protectionKey, sigma1: attempt.sigma1, sigma2: payload, sigma3: sigma3
        ).session(
            localID: sessionID, peerID: message.sessionID, kind: .operational(responder), isInitiator: true,
            localNode: fabric.nodeID, peerNode: peer, parameters: message.parameters)
        let record = ResumptionRecord(id: received.resumptionID ?? [], secret: secret, peer: responder)
        state = .awaitingStatus(session, record)
        return .reply(.sigma3, sigma3)
    }

    private mutating func resume(
        _ payload: [UInt8], _ attempt: Attempt, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        guard let resumption else { throw .unexpected("message Sigma2Resume: no resumption was requested") }
        let message = try SigmaMessages.Sigma2Resume(decoding: payload)
        let expected = try CASEKeys.resume2Code(
            resumption.secret, random: attempt.random, id: message.id, cryptography)
        guard HandshakeCryptography.areEqual(expected, message.code) else {
            throw .notAuthentic("CASE: the peer does not have the secret of the session")
        }
        let session = CASEKeys.resumed(resumption.secret, random: attempt.random, id: resumption.id).session(
            localID: sessionID, peerID: message.sessionID, kind: .operational(resumption.peer), isInitiator: true,
            localNode: fabric.nodeID, peerNode: resumption.peer.node, parameters: message.parameters)
        newResumption = ResumptionRecord(id: message.id, secret: resumption.secret, peer: resumption.peer)
        return .finished(reply: (.statusReport, StatusReport.sessionEstablished.encoded), session)
    }
}
