import MatterCryptography
import MatterWire
import Testing

@testable import MatterSessions

@Suite struct PASETests {
    private typealias Run = HandshakeRun<PASEInitiator, PASEResponder>
    private static let passcode: UInt32 = 20_202_021
    private let cryptography: OpenSSLCryptography
    private let verifier: SpakeVerifier

    init() throws {
        cryptography = try OpenSSLCryptography()
        verifier = try SpakeVerifier(
            passcode: Self.passcode, salt: Array("SPAKE2P Key Salt".utf8), iterations: 1000, cryptography)
    }

    private func run(
        passcode: UInt32 = passcode, initiatorParameters: SessionParameters = .standard,
        responderParameters: SessionParameters = .standard
    ) -> Run {
        var initiator = PASEInitiator(
            passcode: passcode, sessionID: 0x1111, parameters: initiatorParameters,
            randomness: HandshakeBytes.randomness(1))
        let first = initiator.start()
        let responder = PASEResponder(
            verifier, sessionID: 0x2222, parameters: responderParameters, randomness: HandshakeBytes.randomness(2))
        return Run(initiator, responder, first: first, cryptography)
    }

    @Test("The correct passcode establishes a session with the same keys on both sides")
    func theCorrectPasscodeWorks() throws {
        let slow = SessionParameters(
            idleInterval: .seconds(5), activeInterval: .milliseconds(250), activeThreshold: .seconds(1))
        let run = run(responderParameters: slow).finished()
        #expect(run.isEstablished)
        #expect(
            run.opcodes == [.pbkdfParamRequest, .pbkdfParamResponse, .pake1, .pake2, .pake3, .statusReport])
        let (own, other) = (try #require(run.initiatorSession), try #require(run.responderSession))
        #expect((own.localID, own.peerID) == (0x1111, 0x2222))
        #expect(own.kind == .commissioning)
        #expect(own.parameters == slow)
        #expect(other.parameters == .standard)
        #expect((own.localNode, own.peerNode) == (0, 0))
        #expect(!"\(own)".contains("\(own.sendKey[0]), \(own.sendKey[1])"))
    }

    @Test("With a wrong passcode the initiator detects it and both sides fail") func aWrongPasscodeFails() {
        let run = run(passcode: Self.passcode + 1).finished()
        #expect(run.initiatorSession == nil)
        #expect(run.responderSession == nil)
        #expect(run.opcodes.suffix(2) == [.pake2, .statusReport])
        #expect(run.initiatorFault == .notAuthentic("PASE: the peer has a different passcode"))
        #expect(run.responderFault == .reported(.invalidParameter))
    }

    @Test("A wrong confirmation by the initiator is rejected with invalid parameter")
    func aWrongConfirmationFails() throws {
        var run = run()
        for _ in 0..<4 { run.step() }
        #expect(run.next?.opcode == .pake3)
        run.next?.payload = PASEMessages.pake3(confirmation: [UInt8](repeating: 0, count: 32))
        run.step()
        #expect(run.lastStatus == .invalidParameter)
        #expect(run.responderFault == .notAuthentic("PASE: the peer has a different passcode"))
    }

    @Test("A change of any byte of any message prevents the session") func changesPreventTheSession() {
        var base = run()
        while let message = base.next {
            for index in message.payload.indices {
                var changed = base
                changed.next?.payload[index] ^= 1 << (index % 8)
                changed.finish()
                #expect(!changed.isEstablished, "byte \(index) of \(message.opcode)")
                // The status after Pake3 is not authenticated. Its change affects the initiator only.
                #expect(changed.responderSession == nil || message.opcode == .statusReport)
                #expect(changed.initiatorSession == nil)
            }
            base.step()
        }
        #expect(base.isEstablished)
    }

    @Test("Truncated messages and trailing bytes fail") func truncatedMessagesFail() {
        var base = run()
        while let message = base.next, message.opcode != .statusReport {
            for payload in [[], Array(message.payload.dropLast()), message.payload + [0]] {
                var changed = base
                changed.next?.payload = payload
                #expect(!changed.finished().isEstablished)
            }
            base.step()
        }
    }

    @Test("A message in the wrong order ends the handshake") func wrongOrderEndsTheHandshake() {
        let opcodes: [SecureChannelOpcode] = [
            .pbkdfParamRequest, .pbkdfParamResponse, .pake1, .pake2, .pake3, .sigma1, .sigma3,
            .standaloneAcknowledgement,
        ]
        var base = run()
        while let message = base.next, message.opcode != .statusReport {
            for opcode in opcodes where opcode != message.opcode {
                var changed = base
                changed.next?.opcode = opcode
                changed.step()
                #expect(changed.lastStatus == .invalidParameter)
                // The correct message comes too late.
                changed.next = message
                #expect(!changed.finished().isEstablished)
            }
            base.step()
        }
    }

    @Test("Messages after the end of the handshake get no answer") func repeatedMessagesGetNoAnswer() {
        var base = run()
        var messages: [Run.Message] = []
        while let message = base.next {
            messages.append(message)
            base.step()
        }
        #expect(base.isEstablished)
        for message in messages {
            var repeated = base
            repeated.next = message
            repeated.step()
            #expect(repeated.next == nil)
            #expect(repeated.initiatorFault != nil || repeated.responderFault != nil)
        }
    }

    @Test("An invalid share does not give a session") func invalidSharesFail() throws {
        var run = run()
        for _ in 0..<2 { run.step() }
        let payload = try #require(run.next?.payload)
        let share = try #require(try TLVValue(decoding: payload)[1]?.asBytes)
        for point in [
            [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 0, count: 64), Array(share.dropLast()),
            // X = w0 * M makes the shared point infinite.
            try cryptography.multiply(Spake2Plus.m, by: verifier.w0),
        ] {
            var changed = run
            changed.next?.payload = PASEMessages.pake1(share: point)
            changed.step()
            #expect(changed.lastStatus == .invalidParameter)
        }
    }

    @Test("The salt is omitted if the initiator has it, and other passcode ids are rejected")
    func requestsVary() throws {
        let request = PASEMessages.Request(
            random: [UInt8](repeating: 1, count: 32), sessionID: 7, hasStretching: true, parameters: .standard)
        var responder = PASEResponder(verifier, sessionID: 1, randomness: HandshakeBytes.randomness(3))
        var second = responder
        guard
            case .reply(.pbkdfParamResponse, let payload) = responder.handle(
                .pbkdfParamRequest, request.encoded, cryptography)
        else {
            Issue.record("no response")
            return
        }
        #expect(try PASEMessages.Response(decoding: payload).stretching == nil)
        var other = request
        other.passcodeID = 1
        guard case .failed = second.handle(.pbkdfParamRequest, other.encoded, cryptography) else {
            Issue.record("a passcode that does not exist was accepted")
            return
        }
    }

    @Test("Session parameters have defaults, ignore unknown members and are limited")
    func parametersAreDecoded() throws {
        #expect(try SessionParameters(decoding: nil) == .standard)
        #expect(try SessionParameters(decoding: SessionParameters.standard.encoded) == .standard)
        let partial = TLVValue.fields((2, .unsigned(1000)), (9, .text("new")), (200, .boolean(true)))
        #expect(
            try SessionParameters(decoding: partial)
                == SessionParameters(
                    idleInterval: .milliseconds(500), activeInterval: .seconds(1), activeThreshold: .seconds(4)))
        let long = TLVValue.fields((1, .unsigned(.max)), (2, .unsigned(.max)), (3, .unsigned(.max)))
        #expect(
            try SessionParameters(decoding: long)
                == SessionParameters(
                    idleInterval: .seconds(3600), activeInterval: .seconds(3600),
                    activeThreshold: .milliseconds(65_535)))
        for invalid in [TLVValue.fields((1, .text("5"))), .unsigned(1), .fields((3, .signed(-1)))] {
            #expect(throws: MatterError.self) { try SessionParameters(decoding: invalid) }
        }
    }
}
