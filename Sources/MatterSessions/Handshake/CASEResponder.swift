public import MatterWire

/// The responder's side of CASE, the handshake with operational certificates (Matter 4.14.2).
///
/// One value handles one handshake: Sigma1 and Sigma3, or Sigma1 and a status report if a session is resumed. A message
/// in a different order ends it.
public struct CASEResponder: Sendable, CustomStringConvertible {
    private enum State: Sendable {
        case awaitingSigma1
        case awaitingSigma3(Attempt)
        case awaitingStatus(NewSession, ResumptionRecord)
        case ended
    }

    /// The values between Sigma2 and Sigma3.
    private struct Attempt: Sendable {
        var fabric: CASEFabric
        var protectionKey: [UInt8]
        var secret: [UInt8]
        var ephemeralKey: [UInt8]
        var peerEphemeralKey: [UInt8]
        var peerID: UInt16
        var parameters: SessionParameters
        var resumptionID: [UInt8]
        var sigma1: [UInt8]
        var sigma2: [UInt8]
    }

    private let fabrics: [CASEFabric]
    private let resumptions: [ResumptionRecord]
    private let sessionID: UInt16
    private let parameters: SessionParameters
    private var randomness: MatterRandomness
    private var state = State.awaitingSigma1

    /// The record for resuming the new session, after the handshake has finished. It replaces the record with which the
    /// session was resumed.
    public private(set) var newResumption: ResumptionRecord?
    /// The identifier of the record that the initiator used, if the session is resumed.
    public private(set) var resumedID: [UInt8]?

    /// Creates the responder of one handshake.
    ///
    /// - Parameters:
    ///   - resumptions: the records of earlier sessions. Records of other fabrics than `fabrics` are ignored.
    ///   - sessionID: the id of the new session, not 0.
    ///   - parameters: the parameters that this node announces.
    public init(
        fabrics: [CASEFabric], resumptions: [ResumptionRecord] = [], sessionID: UInt16,
        parameters: SessionParameters = .standard, randomness: MatterRandomness
    ) {
        self.fabrics = fabrics
        self.resumptions = resumptions
        self.sessionID = sessionID
        self.parameters = parameters
        self.randomness = randomness
    }

    /// Handles a message of the initiator. After a failure or a finished handshake, all messages fail.
    public mutating func handle(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ cryptography: any MatterCryptography
    ) -> HandshakeResult {
        let previous = state
        state = .ended
        do throws(MatterError) {
            switch (previous, opcode) {
            case (.awaitingSigma1, .sigma1): return try sigma1(payload, cryptography)
            case (.awaitingSigma3(let attempt), .sigma3): return try sigma3(payload, attempt, cryptography)
            case (.awaitingStatus(let session, let record), .statusReport):
                do throws(MatterError) { try StatusReport.check(payload) } catch { return .failed(reply: nil, error) }
                newResumption = record
                return .finished(reply: nil, session)
            case (.ended, _): return .failed(reply: nil, .unexpected("message \(opcode): CASE has ended"))
            case (_, .statusReport): return .failed(reply: nil, .reported(try StatusReport(decoding: payload)))
            case (.awaitingSigma1, _), (.awaitingSigma3, _), (.awaitingStatus, _):
                throw .unexpected("message \(opcode) in CASE")
            }
        } catch {
            return .refused(error)
        }
    }

    /// The side without its secrets.
    public var description: String { "CASE responder of session \(sessionID)" }

    private mutating func sigma1(
        _ payload: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let message = try SigmaMessages.Sigma1(decoding: payload)
        if let result = try resume(message, cryptography) { return result }
        guard let (fabric, protectionKey) = destination(of: message) else {
            return .refused(.notAuthentic("CASE: Sigma1 is not for a fabric of this node"), .noSharedTrustRoots)
        }
        let key = randomness.agreementKey()
        let ephemeralKey = Array(key.publicKey.x963Representation)
        let secret = try HandshakeCryptography.agree(key, with: message.ephemeralKey)
        let random = randomness.bytes(SigmaMessages.randomLength)
        let resumptionID = randomness.bytes(SigmaMessages.resumptionIDLength)
        let credentials = try fabric.credentials(
            ephemeralKey: ephemeralKey, peerEphemeralKey: message.ephemeralKey, resumptionID: resumptionID)
        let encrypted = try cryptography.seal(
            credentials.encoded,
            key: CASEKeys.sigma2(
                secret, protectionKey: protectionKey, random: random, ephemeralKey: ephemeralKey, sigma1: payload),
            nonce: CASEKeys.sigma2Nonce, authenticating: [])
        let sigma2 = SigmaMessages.Sigma2(
            random: random, sessionID: sessionID, ephemeralKey: ephemeralKey, encrypted: encrypted,
            parameters: parameters
        ).encoded
        state = .awaitingSigma3(
            Attempt(
                fabric: fabric, protectionKey: protectionKey, secret: secret, ephemeralKey: ephemeralKey,
                peerEphemeralKey: message.ephemeralKey, peerID: message.sessionID, parameters: message.parameters,
                resumptionID: resumptionID, sigma1: payload, sigma2: sigma2))
        return .reply(.sigma2, sigma2)
    }

    /// The fabric and the key for which the initiator computed the destination (Matter 4.14.2.4.1).
    private func destination(of message: SigmaMessages.Sigma1) -> (CASEFabric, [UInt8])? {
        for fabric in fabrics {
            for key in fabric.identityProtectionKeys {
                let expected = FabricIdentity.destinationID(
                    random: message.random, rootPublicKey: fabric.rootPublicKey, fabricID: fabric.fabricID,
                    nodeID: fabric.nodeID, protectionKey: key)
                if HandshakeCryptography.areEqual(expected, message.destination) { return (fabric, key) }
            }
        }
        return nil
    }

    /// Resumes a session, or returns nil if the initiator does not ask for it or has a different secret. The handshake
    /// then continues with Sigma2 (Matter 4.14.2.2.1).
    private mutating func resume(
        _ message: SigmaMessages.Sigma1, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult? {
        guard let (id, code) = message.resumption, let record = resumptions.first(where: { $0.id == id }),
            let fabric = fabrics.first(where: { $0.index == record.peer.fabric })
        else { return nil }
        let expected = try CASEKeys.resume1Code(record.secret, random: message.random, id: id, cryptography)
        guard HandshakeCryptography.areEqual(expected, code) else { return nil }
        let newID = randomness.bytes(SigmaMessages.resumptionIDLength)
        let reply = SigmaMessages.Sigma2Resume(
            id: newID, code: try CASEKeys.resume2Code(record.secret, random: message.random, id: newID, cryptography),
            sessionID: sessionID, parameters: parameters)
        let session = CASEKeys.resumed(record.secret, random: message.random, id: id).session(
            localID: sessionID, peerID: message.sessionID, kind: .operational(record.peer), isInitiator: false,
            localNode: fabric.nodeID, peerNode: record.peer.node, parameters: message.parameters)
        resumedID = id
        state = .awaitingStatus(session, ResumptionRecord(id: newID, secret: record.secret, peer: record.peer))
        return .reply(.sigma2Resume, reply.encoded)
    }

    private mutating func sigma3(
        _ payload: [UInt8], _ attempt: Attempt, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let encrypted = try HandshakeFields(payload, "Sigma3").bytes(1, in: SigmaMessages.encryptedLengths)
        let key = CASEKeys.sigma3(
            attempt.secret, protectionKey: attempt.protectionKey, sigma1: attempt.sigma1, sigma2: attempt.sigma2)
        let opened = try cryptography.open(encrypted, key: key, nonce: CASEKeys.sigma3Nonce, authenticating: [])
        let peer = try attempt.fabric.verify(
            try SigmaMessages.Credentials(decoding: opened, hasResumption: false),
            ephemeralKey: attempt.peerEphemeralKey, ownEphemeralKey: attempt.ephemeralKey)
        let session = CASEKeys.session(
            attempt.secret, protectionKey: attempt.protectionKey, sigma1: attempt.sigma1, sigma2: attempt.sigma2,
            sigma3: payload
        ).session(
            localID: sessionID, peerID: attempt.peerID, kind: .operational(peer), isInitiator: false,
            localNode: attempt.fabric.nodeID, peerNode: peer.node, parameters: attempt.parameters)
        newResumption = ResumptionRecord(id: attempt.resumptionID, secret: attempt.secret, peer: peer)
        return .finished(reply: (.statusReport, StatusReport.sessionEstablished.encoded), session)
    }
}
