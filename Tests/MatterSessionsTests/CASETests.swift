import Crypto
import MatterCryptography
import MatterWire
import Testing

@testable import MatterSessions

@Suite struct CASETests {
    private typealias Run = HandshakeRun<CASEInitiator, CASEResponder>
    private static let plug: UInt64 = 0x0001_0002_0003_0004
    private static let controller: UInt64 = 112_233
    private let cryptography: OpenSSLCryptography

    init() throws { cryptography = try OpenSSLCryptography() }

    private func run(
        from initiator: CASEFabric, to peer: UInt64 = plug, with fabrics: [CASEFabric],
        resumption: ResumptionRecord? = nil, resumptions: [ResumptionRecord] = [],
        parameters: SessionParameters = .standard, seed: UInt8 = 1
    ) throws -> Run {
        var side = CASEInitiator(
            fabric: initiator, peer: peer, sessionID: 0x1111, resumption: resumption,
            randomness: HandshakeBytes.randomness(seed))
        let first = try side.start(cryptography)
        let responder = CASEResponder(
            fabrics: fabrics, resumptions: resumptions, sessionID: 0x2222, parameters: parameters,
            randomness: HandshakeBytes.randomness(seed &+ 100))
        return Run(side, responder, first: first, cryptography)
    }

    @Test(
        "Two nodes of a fabric establish a session, with and without intermediate certificates",
        arguments: [
            false, true,
        ]) func nodesOfAFabricConnect(hasIntermediate: Bool) throws
    {
        var fixture = try FabricFixture(seed: 1, hasIntermediate: hasIntermediate)
        let tags: [UInt32] = [0xABCD_0001, 0x0001_0002, 0x0002_0003]
        let controller = try fixture.member(Self.controller, tags: tags)
        var other = try FabricFixture(seed: 2)
        let fabrics = [try other.member(5, index: 1), try fixture.member(Self.plug, index: 2)]
        let slow = SessionParameters(
            idleInterval: .seconds(5), activeInterval: .milliseconds(250), activeThreshold: .seconds(1))
        let run = try run(from: controller, with: fabrics, parameters: slow).finished()
        #expect(run.isEstablished)
        #expect(run.opcodes == [.sigma1, .sigma2, .sigma3, .statusReport])
        let own = try #require(run.initiatorSession)
        let session = try #require(run.responderSession)
        #expect(session.kind == .operational(OperationalPeer(fabric: 2, node: Self.controller, tags: tags)))
        #expect(own.kind == .operational(OperationalPeer(fabric: 1, node: Self.plug, tags: [])))
        #expect((session.localNode, session.peerNode) == (Self.plug, Self.controller))
        #expect(own.parameters == slow)
        #expect(run.responder.newResumption?.id == run.initiator.newResumption?.id)
        #expect(run.responder.newResumption?.secret == run.initiator.newResumption?.secret)
        #expect(run.responder.resumedID == nil)
    }

    @Test("Messages of CASE fit into a datagram with the largest certificates") func messagesFit() throws {
        var fixture = try FabricFixture(seed: 1, hasIntermediate: true)
        let controller = try fixture.member(Self.controller, tags: [0xFFFF_0001, 0xFFFE_0001, 0xFFFD_0001])
        var run = try run(from: controller, with: [try fixture.member(Self.plug)])
        while let message = run.next {
            #expect(message.payload.count <= 1194)
            run.step()
        }
        #expect(run.isEstablished)
    }

    @Test("Each identity protection key of a fabric is accepted") func everyEpochKeyIsAccepted() throws {
        var fixture = try FabricFixture(seed: 1)
        let keys = [UInt8](1...3).map { [UInt8](repeating: $0, count: 16) }
        let plug = try fixture.member(Self.plug, epochKeys: keys)
        for key in keys {
            let controller = try fixture.member(Self.controller, epochKeys: [key])
            #expect(try run(from: controller, with: [plug]).finished().isEstablished)
        }
        let stranger = try fixture.member(Self.controller, epochKeys: [[UInt8](repeating: 9, count: 16)])
        #expect(try run(from: stranger, with: [plug]).finished().responderSession == nil)
        var none = stranger
        none.identityProtectionKeys = []
        #expect(throws: MatterError.self) { try run(from: none, with: [plug]) }
    }

    @Test("A session is resumed with the record of the previous one, and each record is used once")
    func sessionsAreResumed() throws {
        var fixture = try FabricFixture(seed: 1, hasIntermediate: true)
        let tags: [UInt32] = [0xABCD_0001]
        let (controller, plug) = (try fixture.member(Self.controller, tags: tags), try fixture.member(Self.plug))
        let first = try run(from: controller, with: [plug]).finished()
        var (own, stored) = (try #require(first.initiator.newResumption), try #require(first.responder.newResumption))
        var keys: Set<[UInt8]> = [try #require(first.initiatorSession).sendKey]
        for seed in [UInt8](2...3) {
            let run = try run(
                from: controller, with: [plug], resumption: own, resumptions: [stored], seed: seed
            ).finished()
            #expect(run.isEstablished)
            #expect(run.opcodes == [.sigma1, .sigma2Resume, .statusReport])
            let session = try #require(run.responderSession)
            #expect(session.kind == .operational(OperationalPeer(fabric: 1, node: Self.controller, tags: tags)))
            #expect(keys.insert(session.receiveKey).inserted)
            #expect(run.responder.resumedID == stored.id)
            let new = try #require(run.responder.newResumption)
            #expect(new.id != stored.id)
            #expect(new.secret == stored.secret)
            (own, stored) = (try #require(run.initiator.newResumption), new)
            #expect(own.id == stored.id)
        }
        // The first record is not stored any more, so the handshake is complete.
        let old = try #require(first.initiator.newResumption)
        let run = try run(
            from: controller, with: [plug], resumption: old, resumptions: [stored], seed: 9
        ).finished()
        #expect(run.isEstablished)
        #expect(run.opcodes == [.sigma1, .sigma2, .sigma3, .statusReport])
    }

    @Test("A resumption with a wrong secret, or for a removed fabric, falls back to a complete handshake")
    func wrongResumptionsFallBack() throws {
        var fixture = try FabricFixture(seed: 1)
        let (controller, plug) = (try fixture.member(Self.controller), try fixture.member(Self.plug))
        let record = ResumptionRecord(
            id: [UInt8](repeating: 5, count: 16), secret: [UInt8](repeating: 6, count: 32),
            peer: OperationalPeer(fabric: 1, node: Self.controller, tags: []))
        var stored = record
        stored.secret[0] ^= 1
        let run = try run(
            from: controller, with: [plug], resumption: record, resumptions: [stored]
        ).finished()
        #expect(run.isEstablished)
        #expect(run.opcodes.contains(.sigma3))
        #expect(run.responder.newResumption?.secret != record.secret)
        stored = record
        stored.peer.fabric = 7
        let removed = try self.run(
            from: controller, with: [plug], resumption: record, resumptions: [stored]
        ).finished()
        #expect(removed.isEstablished)
        #expect(removed.opcodes.contains(.sigma3))
    }

    @Test("A change of any byte of a resumption prevents the resumed session") func changedResumptionsFail() throws {
        var fixture = try FabricFixture(seed: 1)
        let (controller, plug) = (try fixture.member(Self.controller), try fixture.member(Self.plug))
        let first = try run(from: controller, with: [plug]).finished()
        var base = try run(
            from: controller, with: [plug], resumption: first.initiator.newResumption,
            resumptions: [try #require(first.responder.newResumption)], seed: 2)
        base.step()
        let message = try #require(base.next)
        #expect(message.opcode == .sigma2Resume)
        // The identifier and the code are authenticated. The session id and the parameters after them are not: a wrong
        // id gives a session to which no message can be sent.
        let authenticated = message.payload.prefix(1 + 3 + 16 + 3 + 16).indices
        for index in authenticated {
            var changed = base
            changed.next?.payload[index] ^= 1 << (index % 8)
            #expect(!changed.finished().isEstablished, "byte \(index)")
        }
        base.step()
        base.next?.payload = StatusReport.invalidParameter.encoded
        base.step()
        #expect(base.responderSession == nil)
        #expect(base.responder.newResumption == nil)
    }

    @Test("A change of any byte of any message prevents the session") func changesPreventTheSession() throws {
        var fixture = try FabricFixture(seed: 1, hasIntermediate: true)
        var base = try run(
            from: try fixture.member(Self.controller, tags: [0xABCD_0001]), with: [try fixture.member(Self.plug)])
        while let message = base.next {
            // Sigma1 costs the responder a signature, so it is sampled.
            for index in stride(from: 0, to: message.payload.count, by: message.opcode == .sigma1 ? 3 : 1) {
                var changed = base
                changed.next?.payload[index] ^= 1 << (index % 8)
                changed.finish()
                #expect(changed.initiatorSession == nil, "byte \(index) of \(message.opcode)")
                #expect(changed.responderSession == nil || message.opcode == .statusReport)
            }
            base.step()
        }
        #expect(base.isEstablished)
    }

    @Test("A message in the wrong order or after the end does not give a session") func wrongOrderFails() throws {
        let opcodes: [SecureChannelOpcode] = [
            .pbkdfParamRequest, .pake3, .sigma1, .sigma2, .sigma2Resume, .sigma3, .messageCounterSyncRequest,
        ]
        var fixture = try FabricFixture(seed: 1)
        var base = try run(from: try fixture.member(Self.controller), with: [try fixture.member(Self.plug)])
        var messages: [Run.Message] = []
        while let message = base.next {
            if message.opcode != .statusReport {
                for opcode in opcodes where opcode != message.opcode {
                    var changed = base
                    changed.next?.opcode = opcode
                    changed.step()
                    #expect(changed.lastStatus == .invalidParameter)
                    changed.next = message
                    #expect(!changed.finished().isEstablished)
                }
            }
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

    @Test("An initiator of a different root is refused: no shared trust roots") func foreignRootsAreRefused() throws {
        var (fixture, foreign) = (try FabricFixture(seed: 1), try FabricFixture(seed: 2))
        let plug = try fixture.member(Self.plug)
        let stranger = try foreign.member(Self.controller)
        var run = try run(from: stranger, with: [plug])
        run.step()
        #expect(run.lastStatus == .noSharedTrustRoots)
        run.step()
        #expect(run.initiatorFault == .reported(.noSharedTrustRoots))
        #expect(try self.run(from: stranger, with: []).finished().responderSession == nil)
        #expect(try self.run(from: try fixture.member(1), to: 99, with: [plug]).finished().responderSession == nil)

        // The stranger knows the root and the protection key, but its certificate is from its own root.
        var forged = try fixture.member(Self.controller)
        (forged.operationalCertificate, forged.key) = (stranger.operationalCertificate, stranger.key)
        let second = try self.run(from: forged, with: [plug]).finished()
        #expect(second.opcodes.contains(.sigma3))
        #expect(second.responderSession == nil)
        #expect(second.initiatorFault == .reported(.invalidParameter))
    }

    @Test("Credentials that do not belong to the peer are rejected on both sides") func impostorsAreRejected() throws {
        var fixture = try FabricFixture(seed: 1)
        let (controller, plug) = (try fixture.member(Self.controller), try fixture.member(Self.plug))
        let other = try fixture.member(42)
        // The certificate of a member, with a different private key.
        var wrongKey = controller
        wrongKey.key = other.key
        let first = try run(from: wrongKey, with: [plug]).finished()
        #expect(first.responderFault == .notAuthentic("CASE: the signature of the peer is not valid"))
        var wrongPlugKey = plug
        wrongPlugKey.key = other.key
        let second = try run(from: controller, with: [wrongPlugKey]).finished()
        #expect(second.initiatorFault == .notAuthentic("CASE: the signature of the peer is not valid"))
        #expect(second.responderSession == nil)
        // A member of the fabric that answers for a different node.
        var impostor = other
        impostor.nodeID = Self.plug
        let third = try run(from: controller, with: [impostor]).finished()
        #expect(third.initiatorFault == .notAuthentic("CASE: a different node answered"))
        // A certificate of the same root for a different fabric.
        let key = HandshakeBytes.randomness(77).firstSigningKey()
        var foreign = controller
        foreign.key = Array(key.rawRepresentation)
        foreign.operationalCertificate = try fixture.certificate(key, node: 1, fabricID: 0xFAB2).encoded
        let fourth = try run(from: foreign, with: [plug]).finished()
        #expect(fourth.responderFault == .notAuthentic("CASE: the peer belongs to a different fabric"))
    }

    @Test("Sigma1 with only one member of a resumption is invalid") func halfAResumptionIsInvalid() throws {
        var fixture = try FabricFixture(seed: 1)
        let (controller, plug) = (try fixture.member(Self.controller), try fixture.member(Self.plug))
        var run = try run(from: controller, with: [plug])
        let payload = try #require(run.next?.payload)
        let members = try #require(try TLVValue(decoding: payload).members)
        for tag in [6, 7] as [UInt8] {
            let half = members + [TLVElement(.context(tag), .bytes([UInt8](repeating: 1, count: 16)))]
            var changed = run
            changed.next?.payload = TLVValue.structure(half).encoded
            changed.step()
            #expect(changed.lastStatus == .invalidParameter)
        }
        run.step()
        #expect(run.next?.opcode == .sigma2)
    }
}

extension MatterRandomness {
    /// The first signing key of a copy.
    fileprivate func firstSigningKey() -> P256.Signing.PrivateKey {
        var copy = self
        return copy.signingKey()
    }
}
