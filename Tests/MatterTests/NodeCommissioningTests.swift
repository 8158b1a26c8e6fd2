import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeCommissioningTests {
    @Test("A fabric is stored when commissioning completes, and not before")
    func commissioning() throws {
        var fixture = try NodeFixture()
        let issuer = try fixture.root()
        fixture.startCommissioning()
        #expect(fixture.node.paseVerifier == nil)
        let key = try fixture.requestSigning()
        #expect(fixture.addRoot(issuer) == .status(.success))
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 0)
        #expect(fixture.node.summaries.map(\.index) == [1])
        #expect(fixture.node.fabrics.first?.identityProtectionKeys.count == 1)
        #expect(fixture.stored?.fabrics.isEmpty == true)
        #expect(
            try fixture.read(.operationalCredentials, OperationalCredentials.Attribute.currentFabricIndex)
                == .unsigned(1))
        // Commissioning is completed only in an operational session of the fabric.
        #expect(fixture.complete(as: NodeFixture.passcodeSession) == 2)
        #expect(fixture.complete(as: NodeFixture.session(fabric: 2)) == 2)
        let session = NodeFixture.session(fabric: 1)
        #expect(fixture.complete(as: session) == 0)
        #expect(fixture.complete(as: session) == 3)
        #expect(fixture.effects.contains(.endCommissioningSessions))
        #expect(fixture.stored?.fabrics.map(\.index) == [1])
        #expect(fixture.node.window.opensUntil == nil)
    }

    /// The steps of a commissioning. Each one may be the last before the fail-safe expires.
    private enum Step: Int, CaseIterable { case arm, regulation, key, root, fabric, access, keySet, scene }

    @Test("The expiry of the fail-safe undoes every step", arguments: 0..<8)
    func rollBack(last: Int) throws {
        var fixture = try NodeFixture()
        _ = try fixture.commission()
        fixture.wait(.seconds(1))
        let before = try #require(fixture.stored)
        let issuer = try fixture.root(2)
        var key: [UInt8] = []
        fixture.startCommissioning()
        let new = NodeFixture.session(fabric: 2)
        for step in Step.allCases.prefix(last + 1) {
            switch step {
            case .arm: #expect(fixture.armFailSafe(100, as: NodeFixture.passcodeSession) == 0)
            case .regulation:
                let fields = TLVValue.fields((0, .unsigned(0)), (1, .text("DE")), (2, .unsigned(1)))
                #expect(
                    fixture.code(
                        fixture.invoke(
                            .generalCommissioning, GeneralCommissioning.Command.setRegulatoryConfig, fields,
                            as: NodeFixture.passcodeSession)) == 0)
                #expect(try fixture.read(.basicInformation, BasicInformation.Attribute.location) == .text("DE"))
            case .key: key = try fixture.requestSigning()
            case .root: #expect(fixture.addRoot(issuer) == .status(.success))
            case .fabric: #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 0)
            case .access:
                #expect(
                    fixture.write(
                        .accessControl, AccessControl.Attribute.acl, .fields((1, .unsigned(1)), (2, .unsigned(2))),
                        appends: true, as: new) == .success)
            case .keySet:
                let set = TLVValue.fields(
                    (0, .unsigned(7)), (1, .unsigned(0)), (2, .bytes(Array(repeating: 1, count: 16))), (3, .unsigned(1))
                )
                #expect(
                    fixture.invoke(
                        .groupKeyManagement, GroupKeyManagement.Command.keySetWrite, .fields((0, set)), as: new)
                        == .status(.success))
            case .scene:
                #expect(
                    fixture.code(
                        fixture.invoke(
                            .scenesManagement, ScenesManagement.Command.storeScene, on: 1,
                            .fields((0, .unsigned(0)), (1, .unsigned(1))), as: new)) == 0)
            }
            // A loss of power would have the same result as the expiry.
            #expect(fixture.stored?.fabrics == before.fabrics)
            #expect(fixture.stored?.settings == before.settings)
        }
        fixture.wait(.seconds(101))
        #expect(fixture.stored?.fabrics == before.fabrics)
        #expect(fixture.stored?.settings == before.settings)
        #expect(fixture.node.summaries.map(\.index) == [1])
        #expect(try fixture.read(.generalCommissioning, GeneralCommissioning.Attribute.breadcrumb) == .unsigned(0))
        #expect(
            try fixture.read(.operationalCredentials, OperationalCredentials.Attribute.trustedRootCertificates)
                .elements?.count == 1)
        #expect(fixture.effects.contains(.endSessions(fabric: 2, except: nil)) == (last >= Step.fabric.rawValue))
        // The window is still open for the next commissioner.
        #expect(fixture.node.paseVerifier != nil)
        #expect(throws: ReplyError.self) { try fixture.requestSigning() }
    }

    @Test("The end of the commissioning session expires the fail-safe, unless the fabric has a session")
    func endOfTheCommissioningSession() throws {
        for hasOperationalSession in [false, true] {
            var fixture = try NodeFixture()
            let issuer = try fixture.root()
            fixture.startCommissioning()
            let key = try fixture.requestSigning()
            _ = fixture.addRoot(issuer)
            #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 0)
            let session = NodeFixture.session(fabric: 1)
            if hasOperationalSession { fixture.node.sessionEstablished(try #require(session.sessionKind)) }
            fixture.node.sessionEnded(NodeFixture.context(of: NodeFixture.passcodeSession))
            #expect(fixture.node.summaries.isEmpty == !hasOperationalSession)
            #expect(fixture.complete(as: session) == (hasOperationalSession ? 0 : 3))
        }
    }

    @Test("The fail-safe can be extended up to its total limit, and zero expires it at once")
    func failSafeLimits() throws {
        var fixture = try NodeFixture()
        fixture.node.openWindow(.seconds(900), now: fixture.now)
        fixture.node.sessionEstablished(.commissioning)
        for _ in 0..<9 {
            #expect(fixture.armFailSafe(1000, as: NodeFixture.passcodeSession) == 0)
            fixture.wait(.seconds(99))
        }
        #expect(try fixture.read(.generalCommissioning, GeneralCommissioning.Attribute.breadcrumb) == .unsigned(5))
        fixture.wait(.seconds(10))
        #expect(try fixture.read(.generalCommissioning, GeneralCommissioning.Attribute.breadcrumb) == .unsigned(0))
        #expect(fixture.armFailSafe(60, as: NodeFixture.passcodeSession) == 0)
        #expect(fixture.armFailSafe(0, as: NodeFixture.passcodeSession) == 0)
        #expect(throws: ReplyError.self) { try fixture.requestSigning() }
    }

    @Test("A second administrator cannot use the fail-safe of the first one")
    func failSafeOfAnotherAdministrator() throws {
        var fixture = try NodeFixture()
        let first = try fixture.commission()
        let second = try fixture.commission(root: 2)
        #expect(fixture.armFailSafe(60, as: first) == 0)
        #expect(fixture.armFailSafe(60, as: second) == 4)
        #expect(fixture.armFailSafe(0, as: second) == 4)
        #expect(fixture.complete(as: second) == 2)
        fixture.wait(.seconds(61))
        #expect(fixture.armFailSafe(60, as: second) == 0)
        #expect(fixture.armFailSafe(0, as: second) == 0)
        fixture.node.openWindow(.seconds(200), now: fixture.now)
        #expect(fixture.armFailSafe(60, as: second) == 4)
    }

    @Test("AddNOC reports the reason for which it rejects a certificate")
    func rejectedCertificates() throws {
        var fixture = try NodeFixture()
        _ = try fixture.commission()
        let issuer = try fixture.root(2)
        fixture.startCommissioning()
        let other = Array(fixture.randomness.signingKey().publicKey.x963Representation)
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: other)) == 4)
        let key = try fixture.requestSigning()
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 3)
        #expect(fixture.addRoot(issuer) == .status(.success))
        #expect(fixture.addRoot(issuer) == .status(InteractionStatus(.constraintError)))
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: other)) == 1)
        #expect(fixture.code(try fixture.addNOC(try fixture.root(3), publicKey: key)) == 3)
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key, administrator: 0)) == 6)
        #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 0)
        #expect(try fixture.addNOC(issuer, publicKey: key) == .status(InteractionStatus(.constraintError)))
        #expect(throws: ReplyError.self) { try fixture.requestSigning() }
    }

    @Test("A root and fabric id cannot be added twice, and at most five fabrics fit")
    func fabricLimits() throws {
        var fixture = try NodeFixture()
        var randomness = fixture.randomness
        let issuer = try CertificateIssuer.root(id: 1, randomness: &randomness)
        for number in 1...7 {
            fixture.startCommissioning()
            let key = try fixture.requestSigning()
            #expect(fixture.addRoot(issuer) == .status(.success))
            let fabricID = UInt64(number == 2 ? 1 : number)
            let code = fixture.code(try fixture.addNOC(issuer, publicKey: key, fabricID: fabricID))
            #expect(code == (number == 2 ? 9 : number == 7 ? 5 : 0))
            let index = UInt8(number > 2 ? number - 1 : number)
            if code == 0 { #expect(fixture.complete(as: NodeFixture.session(fabric: index)) == 0) }
            fixture.node.sessionEnded(NodeFixture.context(of: NodeFixture.passcodeSession))
        }
        #expect(fixture.node.summaries.map(\.index) == [1, 2, 3, 4, 5])
        #expect(
            try fixture.read(.operationalCredentials, OperationalCredentials.Attribute.commissionedFabrics)
                == .unsigned(5))
    }

    @Test("UpdateNOC replaces the certificate, and the expiry of the fail-safe restores the previous one")
    func updatedCertificate() throws {
        for completes in [false, true] {
            var fixture = try NodeFixture()
            let issuer = try fixture.root()
            fixture.startCommissioning()
            let key = try fixture.requestSigning()
            _ = fixture.addRoot(issuer)
            #expect(fixture.code(try fixture.addNOC(issuer, publicKey: key)) == 0)
            let session = NodeFixture.session(fabric: 1)
            #expect(fixture.complete(as: session) == 0)
            let before = try #require(fixture.stored)
            #expect(fixture.armFailSafe(60, as: session) == 0)
            let next = try fixture.requestSigning(isForUpdate: true, as: session)
            let certificate = try issuer.operational(
                publicKey: next, nodeID: 77, fabricID: 0xFAB1, randomness: &fixture.randomness)
            let reply = fixture.invoke(
                .operationalCredentials, OperationalCredentials.Command.updateNOC,
                .fields((0, .bytes(certificate.encoded))), as: session)
            #expect(fixture.code(reply) == 0)
            #expect(fixture.node.summaries.map(\.nodeID) == [77])
            #expect(fixture.stored?.fabrics == before.fabrics)
            #expect(fixture.effects.contains(.endSessions(fabric: 1, except: session.session)))
            if completes { #expect(fixture.complete(as: session) == 0) } else { fixture.wait(.seconds(61)) }
            #expect(fixture.node.summaries.map(\.nodeID) == [completes ? 77 : 0xD00D])
            #expect((fixture.stored?.fabrics == before.fabrics) == !completes)
        }
    }

    @Test("RemoveFabric removes the fabric's data, sessions and announcement, and indexes are reused late")
    func removedFabric() throws {
        var fixture = try NodeFixture()
        let first = try fixture.commission()
        _ = try fixture.commission(root: 2)
        func remove(_ index: UInt64) -> UInt64? {
            fixture.code(
                fixture.invoke(
                    .operationalCredentials, OperationalCredentials.Command.removeFabric,
                    .fields((0, .unsigned(index))), as: first))
        }
        #expect(remove(9) == 11)
        #expect(remove(1) == 0)
        #expect(fixture.effects.contains(.endSessions(fabric: 1, except: first.session)))
        #expect(fixture.stored?.fabrics.map(\.index) == [2])
        #expect(fixture.node.announcements.count == 1)
        #expect(fixture.node.events(after: nil).last?.path.cluster == ClusterID.basicInformation.rawValue)
        #expect(!fixture.node.events(after: nil).contains { $0.fabric == 1 })
        #expect(fixture.node.privileges(of: first, on: 0, cluster: 0x1F) == nil)
        #expect(try fixture.commission(root: 3).fabric == 3)
        fixture.node.removeFabric(nil)
        fixture.takeEffects()
        #expect(fixture.stored?.fabrics.isEmpty == true)
    }

    @Test("Attestation is signed with the challenge of the session")
    func attestation() throws {
        var fixture = try NodeFixture()
        let nonce = [UInt8](repeating: 6, count: 32)
        let reply = fixture.invoke(
            .operationalCredentials, OperationalCredentials.Command.attestationRequest, .fields((0, .bytes(nonce))),
            as: NodeFixture.passcodeSession)
        guard case .response(1, let fields) = reply, let elements = fields[0]?.asBytes,
            let signature = fields[1]?.asBytes
        else { throw ReplyError(reply: reply) }
        #expect(try TLVValue(decoding: elements)[2] == .bytes(nonce))
        let key = try Self.attestationKey()
        let challenge = NodeFixture.passcodeSession.attestationChallenge
        #expect(try Self.isValid(signature, of: elements + challenge, by: key))
        #expect(try !Self.isValid(signature, of: elements, by: key))
        for nonce in [31, 33] {
            let reply = fixture.invoke(
                .operationalCredentials, OperationalCredentials.Command.attestationRequest,
                .fields((0, .bytes(Array(repeating: 0, count: nonce)))), as: NodeFixture.passcodeSession)
            #expect(reply == .status(InteractionStatus(.invalidCommand)))
        }
    }

    @Test("Two fabrics cannot have the same label")
    func labels() throws {
        var fixture = try NodeFixture()
        let first = try fixture.commission()
        let second = try fixture.commission(root: 2)
        func label(_ text: String, _ session: Accessor) -> CommandReply {
            fixture.invoke(
                .operationalCredentials, OperationalCredentials.Command.updateFabricLabel, .fields((0, .text(text))),
                as: session)
        }
        #expect(fixture.code(label("Home", first)) == 0)
        #expect(fixture.code(label("Home", second)) == 10)
        #expect(fixture.code(label("Office", second)) == 0)
        #expect(label(String(repeating: "x", count: 33), first) == .status(InteractionStatus(.constraintError)))
        #expect(fixture.stored?.fabrics.map(\.label) == ["Home", "Office"])
    }
}
