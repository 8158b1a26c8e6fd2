import MatterCryptography
import MatterSessions
import MatterWire

/// One side of a handshake.
protocol HandshakeSide: Sendable {
    mutating func handle(
        _ opcode: SecureChannelOpcode, _ payload: [UInt8], _ cryptography: any MatterCryptography
    ) -> HandshakeResult
}

extension PASEInitiator: HandshakeSide {}
extension PASEResponder: HandshakeSide {}
extension CASEInitiator: HandshakeSide {}
extension CASEResponder: HandshakeSide {}

/// Runs both sides of a handshake against each other. A copy of the value continues from the same point, so that a test
/// can change a message in many ways.
struct HandshakeRun<Initiator: HandshakeSide, Responder: HandshakeSide>: Sendable {
    struct Message: Sendable {
        var isForResponder: Bool
        var opcode: SecureChannelOpcode
        var payload: [UInt8]
    }

    var initiator: Initiator
    var responder: Responder
    /// The message that is delivered next.
    var next: Message?
    private(set) var opcodes: [SecureChannelOpcode] = []
    private(set) var initiatorSession: NewSession?
    private(set) var responderSession: NewSession?
    private(set) var initiatorFault: MatterError?
    private(set) var responderFault: MatterError?
    private let cryptography: any MatterCryptography

    init(
        _ initiator: Initiator, _ responder: Responder, first: (opcode: SecureChannelOpcode, payload: [UInt8]),
        _ cryptography: any MatterCryptography
    ) {
        (self.initiator, self.responder, self.cryptography) = (initiator, responder, cryptography)
        next = Message(isForResponder: true, opcode: first.opcode, payload: first.payload)
    }

    /// Delivers the next message.
    mutating func step() {
        guard let message = next else { return }
        opcodes.append(message.opcode)
        let result =
            message.isForResponder
            ? responder.handle(message.opcode, message.payload, cryptography)
            : initiator.handle(message.opcode, message.payload, cryptography)
        let answer: (SecureChannelOpcode, [UInt8])?
        switch result {
        case .reply(let opcode, let payload): answer = (opcode, payload)
        case .finished(let reply, let session):
            answer = reply
            if message.isForResponder { responderSession = session } else { initiatorSession = session }
        case .failed(let reply, let fault):
            answer = reply
            if message.isForResponder { responderFault = fault } else { initiatorFault = fault }
        }
        next = answer.map { Message(isForResponder: !message.isForResponder, opcode: $0.0, payload: $0.1) }
    }

    /// Delivers messages until none is left.
    mutating func finish() {
        while next != nil { step() }
    }

    func finished() -> HandshakeRun {
        var run = self
        run.finish()
        return run
    }

    /// True if both sides have a session with the same keys in opposite directions.
    var isEstablished: Bool {
        guard let own = initiatorSession, let other = responderSession else { return false }
        return own.sendKey == other.receiveKey && own.receiveKey == other.sendKey && own.sendKey != own.receiveKey
            && own.attestationChallenge == other.attestationChallenge && own.localID == other.peerID
            && own.peerID == other.localID && own.localNode == other.peerNode && own.peerNode == other.localNode
            && own.isInitiator && !other.isInitiator
    }

    /// The status that the last message reported.
    var lastStatus: StatusReport? {
        next?.opcode == .statusReport ? (next?.payload).flatMap { try? StatusReport(decoding: $0) } : nil
    }
}

enum HandshakeBytes {
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func randomness(_ seed: UInt8) -> MatterRandomness {
        MatterRandomness(seed: Array(repeating: seed, count: MatterRandomness.seedLength))
    }
}
