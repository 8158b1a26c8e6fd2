public import MatterWire

/// The node's side of PASE, the handshake with a passcode (Matter 4.14.1).
///
/// One value handles one handshake: PBKDFParamRequest, Pake1, Pake3. A message in a different order ends it. The caller
/// counts failures and closes the commissioning window after too many.
public struct PASEResponder: Sendable, CustomStringConvertible {
    private enum State: Sendable {
        case awaitingRequest
        case awaitingShare(context: [UInt8], peerID: UInt16, SessionParameters)
        case awaitingConfirmation(Spake2Plus.Keys, peerID: UInt16, SessionParameters)
        case ended
    }

    private let verifier: SpakeVerifier
    private let sessionID: UInt16
    private let parameters: SessionParameters
    private var randomness: MatterRandomness
    private var state = State.awaitingRequest

    /// Creates the responder of one handshake.
    ///
    /// - Parameters:
    ///   - verifier: the verifier of the open commissioning window.
    ///   - sessionID: the id of the new session, not 0.
    ///   - parameters: the parameters that this node announces.
    public init(
        _ verifier: SpakeVerifier, sessionID: UInt16, parameters: SessionParameters = .standard,
        randomness: MatterRandomness
    ) {
        self.verifier = verifier
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
            case (.awaitingRequest, .pbkdfParamRequest): return try request(payload)
            case (.awaitingShare(let context, let peerID, let parameters), .pake1):
                return try share(payload, context, peerID, parameters, cryptography)
            case (.awaitingConfirmation(let keys, let peerID, let parameters), .pake3):
                return try confirmation(payload, keys, peerID, parameters)
            case (.ended, _): return .failed(reply: nil, .unexpected("message \(opcode): PASE has ended"))
            case (_, .statusReport): return .failed(reply: nil, .reported(try StatusReport(decoding: payload)))
            case (.awaitingRequest, _), (.awaitingShare, _), (.awaitingConfirmation, _):
                throw .unexpected("message \(opcode) in PASE")
            }
        } catch {
            return .refused(error)
        }
    }

    /// The side without its secrets.
    public var description: String { "PASE responder of session \(sessionID)" }

    private mutating func request(_ payload: [UInt8]) throws(MatterError) -> HandshakeResult {
        let request = try PASEMessages.Request(decoding: payload)
        let response = PASEMessages.Response(
            initiatorRandom: request.random, random: randomness.bytes(PASEMessages.randomLength), sessionID: sessionID,
            stretching: request.hasStretching ? nil : (verifier.salt, verifier.iterations), parameters: parameters
        ).encoded
        state = .awaitingShare(
            context: PASEMessages.context(request: payload, response: response), peerID: request.sessionID,
            request.parameters)
        return .reply(.pbkdfParamResponse, response)
    }

    private mutating func share(
        _ payload: [UInt8], _ context: [UInt8], _ peerID: UInt16, _ parameters: SessionParameters,
        _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let proverShare = try HandshakeFields(payload, "Pake1").bytes(1, count: CryptographyLengths.point)
        let scalar = try Spake2Plus.scalar(&randomness, cryptography)
        let share = try Spake2Plus.share(scalar: scalar, w0: verifier.w0, point: Spake2Plus.n, cryptography)
        let (z, v) = try Spake2Plus.verifierSecrets(
            scalar: scalar, w0: verifier.w0, l: verifier.l, share: proverShare, cryptography)
        let keys = Spake2Plus.Keys(
            Spake2Plus.Transcript(
                context: context, proverShare: proverShare, verifierShare: share, z: z, v: v, w0: verifier.w0))
        state = .awaitingConfirmation(keys, peerID: peerID, parameters)
        return .reply(.pake2, PASEMessages.pake2(share: share, confirmation: keys.verifierConfirmation))
    }

    private func confirmation(
        _ payload: [UInt8], _ keys: Spake2Plus.Keys, _ peerID: UInt16, _ parameters: SessionParameters
    ) throws(MatterError) -> HandshakeResult {
        let confirmation = try HandshakeFields(payload, "Pake3").bytes(1, count: CryptographyLengths.hash)
        guard HandshakeCryptography.areEqual(confirmation, keys.proverConfirmation) else {
            throw .notAuthentic("PASE: the peer has a different passcode")
        }
        let session = SessionKeys(keys.shared, salt: []).session(
            localID: sessionID, peerID: peerID, kind: .commissioning, isInitiator: false, parameters: parameters)
        return .finished(reply: (.statusReport, StatusReport.sessionEstablished.encoded), session)
    }
}
