public import MatterWire

/// The controller's side of PASE, the handshake with a passcode (Matter 4.14.1).
public struct PASEInitiator: Sendable, CustomStringConvertible {
    private enum State: Sendable {
        case idle
        case awaitingResponse(request: [UInt8], random: [UInt8])
        case awaitingShare(Attempt)
        case awaitingStatus(NewSession)
        case ended
    }

    /// The values between Pake1 and Pake2.
    private struct Attempt: Sendable {
        var context: [UInt8]
        var w0: [UInt8]
        var w1: [UInt8]
        var scalar: [UInt8]
        var share: [UInt8]
        var peerID: UInt16
        var parameters: SessionParameters
    }

    private let passcode: UInt32
    private let sessionID: UInt16
    private let parameters: SessionParameters
    private var randomness: MatterRandomness
    private var state = State.idle

    /// Creates the initiator of one handshake.
    ///
    /// - Parameters:
    ///   - passcode: the passcode of the node's label or window.
    ///   - sessionID: the id of the new session, not 0.
    ///   - parameters: the parameters that this node announces.
    public init(
        passcode: UInt32, sessionID: UInt16, parameters: SessionParameters = .standard, randomness: MatterRandomness
    ) {
        self.passcode = passcode
        self.sessionID = sessionID
        self.parameters = parameters
        self.randomness = randomness
    }

    /// Returns the first message. A second call begins a new handshake.
    public mutating func start() -> (opcode: SecureChannelOpcode, payload: [UInt8]) {
        let random = randomness.bytes(PASEMessages.randomLength)
        let request = PASEMessages.Request(random: random, sessionID: sessionID, parameters: parameters).encoded
        state = .awaitingResponse(request: request, random: random)
        return (.pbkdfParamRequest, request)
    }

    /// Handles a message of the responder. After a failure or a finished handshake, all messages fail.
    public mutating func handle(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ cryptography: any MatterCryptography
    ) -> HandshakeResult {
        let previous = state
        state = .ended
        do throws(MatterError) {
            switch (previous, opcode) {
            case (.awaitingResponse(let request, let random), .pbkdfParamResponse):
                return try response(payload, request, random, cryptography)
            case (.awaitingShare(let attempt), .pake2): return try share(payload, attempt, cryptography)
            case (.awaitingStatus(let session), .statusReport):
                do throws(MatterError) { try StatusReport.check(payload) } catch { return .failed(reply: nil, error) }
                return .finished(reply: nil, session)
            case (.idle, _), (.ended, _): return .failed(reply: nil, .unexpected("message \(opcode): no PASE runs"))
            case (_, .statusReport): return .failed(reply: nil, .reported(try StatusReport(decoding: payload)))
            case (.awaitingResponse, _), (.awaitingShare, _), (.awaitingStatus, _):
                throw .unexpected("message \(opcode) in PASE")
            }
        } catch {
            return .refused(error)
        }
    }

    /// The side without its secrets.
    public var description: String { "PASE initiator of session \(sessionID)" }

    private mutating func response(
        _ payload: [UInt8], _ request: [UInt8], _ random: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let response = try PASEMessages.Response(decoding: payload)
        guard response.initiatorRandom == random else {
            throw .notAuthentic("PBKDFParamResponse: it is for a different request")
        }
        guard let (salt, iterations) = response.stretching else {
            throw .invalid("PBKDFParamResponse: the salt and the iterations are missing")
        }
        let (w0, w1) = try Spake2Plus.secrets(
            passcode: passcode, salt: salt, iterations: iterations, cryptography)
        let scalar = try Spake2Plus.scalar(&randomness, cryptography)
        let share = try Spake2Plus.share(scalar: scalar, w0: w0, point: Spake2Plus.m, cryptography)
        state = .awaitingShare(
            Attempt(
                context: PASEMessages.context(request: request, response: payload), w0: w0, w1: w1, scalar: scalar,
                share: share, peerID: response.sessionID, parameters: response.parameters))
        return .reply(.pake1, PASEMessages.pake1(share: share))
    }

    private mutating func share(
        _ payload: [UInt8], _ attempt: Attempt, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> HandshakeResult {
        let fields = try HandshakeFields(payload, "Pake2")
        let verifierShare = try fields.bytes(1, count: CryptographyLengths.point)
        let confirmation = try fields.bytes(2, count: CryptographyLengths.hash)
        let (z, v) = try Spake2Plus.proverSecrets(
            scalar: attempt.scalar, w0: attempt.w0, w1: attempt.w1, share: verifierShare, cryptography)
        let keys = Spake2Plus.Keys(
            Spake2Plus.Transcript(
                context: attempt.context, proverShare: attempt.share, verifierShare: verifierShare, z: z, v: v,
                w0: attempt.w0))
        guard HandshakeCryptography.areEqual(confirmation, keys.verifierConfirmation) else {
            throw .notAuthentic("PASE: the peer has a different passcode")
        }
        state = .awaitingStatus(
            SessionKeys(keys.shared, salt: []).session(
                localID: sessionID, peerID: attempt.peerID, kind: .commissioning, isInitiator: true,
                parameters: attempt.parameters))
        return .reply(.pake3, PASEMessages.pake3(confirmation: keys.proverConfirmation))
    }
}
