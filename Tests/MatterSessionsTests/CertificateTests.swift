import Crypto
import MatterSessions
import MatterWire
import Testing

@Suite struct FabricIdentityTests {
    private let hex = HandshakeBytes.hex
    private let rootKey = HandshakeBytes.hex(
        """
        044a9f42b1ca4840d37292bbc7f6a7e11e22200c976fc900dbc98a7a383a641cb8254a2e56d4e295a847943b4e3897c4a773e930277b\
        4d9fbede8a052686bfacfa
        """)
    private let fabricID: UInt64 = 0x2906_C908_D115_D362

    @Test("The compressed fabric id is that of the specification") func compressedIDMatches() {
        // Matter 4.3.2.2.
        #expect(
            FabricIdentity.compressedID(rootPublicKey: rootKey, fabricID: fabricID) == hex("87e1b004e235a130"))
    }

    @Test("Operational keys are those of the specification") func operationalKeysMatch() {
        // Matter 4.17.2.1 and 4.14.2.4.1.
        for (epochKey, expected) in [
            ("235bf7e62823d358dca4ba50b1535f4b", "a6f5306baf6d050af23ba4bd6b9dd960"),
            ("4a71cdd7b2a3ca9024f96f3c96a19dee", "9bc61cd9c62a2df6d64dfcaa9dc472d4"),
        ] {
            #expect(
                FabricIdentity.operationalKey(of: hex(epochKey), compressedID: hex("87e1b004e235a130"))
                    == hex(expected))
        }
    }

    @Test("The destination id is that of the specification") func destinationMatches() {
        // Matter 4.14.2.4.1.
        let destination = FabricIdentity.destinationID(
            random: hex("7e171231568dfa17206b3accf8faec2f4d21b580113196f47c7c4deb810a73dc"), rootPublicKey: rootKey,
            fabricID: fabricID, nodeID: 0xCD55_44AA_7B13_EF14,
            protectionKey: hex("9bc61cd9c62a2df6d64dfcaa9dc472d4"))
        #expect(destination == hex("dc35dd5fc9134cc5544538c9c3fc4297c1ec3370c839136a80e10796451d4c53"))
    }
}

@Suite struct CertificateChainTests {
    private var fixture: FabricFixture
    private let key: P256.Signing.PrivateKey

    init() throws {
        fixture = try FabricFixture(seed: 4, hasIntermediate: true)
        var randomness = HandshakeBytes.randomness(5)
        key = randomness.signingKey()
    }

    private func expectFault(
        _ operational: MatterCertificate, _ intermediate: MatterCertificate?, _ root: MatterCertificate,
        now: UInt32? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: MatterError.self, sourceLocation: location) {
            try CertificateChain.verify(operational: operational, intermediate: intermediate, root: root, now: now)
        }
    }

    @Test("A chain with or without an intermediate certificate is valid after it was encoded and decoded")
    func issuedChainsAreValid() throws {
        for hasIntermediate in [false, true] {
            var fixture = try FabricFixture(seed: 6, hasIntermediate: hasIntermediate)
            let issued = try fixture.certificate(key, node: 0x1234, tags: [0xABCD_0001])
            let operational = try MatterCertificate(decoding: issued.encoded)
            #expect(operational == issued)
            let root = try MatterCertificate(decoding: fixture.root.certificate.encoded)
            let intermediate = try fixture.intermediate.map { try MatterCertificate(decoding: $0.certificate.encoded) }
            let ids = try CertificateChain.verify(operational: operational, intermediate: intermediate, root: root)
            #expect(ids == (fixture.fabricID, 0x1234, [0xABCD_0001]))
        }
    }

    @Test("Certificates in the wrong place of the chain are rejected") func rolesAreChecked() throws {
        var fixture = fixture
        let operational = try fixture.certificate(key, node: 1)
        let (root, intermediate) = (fixture.root.certificate, try #require(fixture.intermediate).certificate)
        expectFault(operational, nil, root)
        expectFault(operational, root, root)
        expectFault(operational, nil, intermediate)
        expectFault(intermediate, nil, root)
        expectFault(root, nil, root)
        expectFault(operational, operational, root)
        expectFault(operational, intermediate, operational)
        let other = try FabricFixture(seed: 9, hasIntermediate: true)
        expectFault(operational, intermediate, other.root.certificate)
        expectFault(operational, try #require(other.intermediate).certificate, root)
    }

    @Test("A change of any signed member of a certificate is detected") func changesAreDetected() throws {
        var fixture = fixture
        let good = try fixture.certificate(key, node: 1, tags: [0xABCD_0001])
        let (root, intermediate) = (fixture.root.certificate, try #require(fixture.intermediate).certificate)
        func changed(
            _ certificate: MatterCertificate, _ change: (inout MatterCertificate) -> Void
        ) -> MatterCertificate {
            var certificate = certificate
            change(&certificate)
            return certificate
        }
        let changes: [(inout MatterCertificate) -> Void] = [
            { $0.serial[0] ^= 2 }, { $0.notBefore += 1 }, { $0.notAfter = 4_000_000_000 }, { $0.signature[5] ^= 1 },
            { $0.signature[63] ^= 1 }, { $0.publicKey[64] ^= 1 }, { $0.subject.append(.text(.commonName, "x")) },
            { $0.issuer.append(.text(.commonName, "x")) }, { $0.extensions.removeLast() },
            { $0.extensions.append(.other([0x30, 0])) },
        ]
        for change in changes {
            expectFault(changed(good, change), intermediate, root)
            expectFault(good, changed(intermediate, change), root)
            expectFault(good, intermediate, changed(root, change))
        }
    }

    @Test("Signed certificates that violate a rule of their role are rejected") func rulesAreChecked() throws {
        var fixture = fixture
        let good = try fixture.certificate(key, node: 1)
        let (root, authority) = (fixture.root, try #require(fixture.intermediate))
        func resigned(
            _ certificate: MatterCertificate, by issuer: CertificateIssuer,
            _ change: (inout MatterCertificate) -> Void
        ) throws -> MatterCertificate {
            var certificate = certificate
            change(&certificate)
            return try issuer.signed(certificate)
        }
        // The change alone decides: without one the certificate is accepted.
        let unchanged = try resigned(good, by: authority) { _ in }
        _ = try CertificateChain.verify(
            operational: unchanged, intermediate: authority.certificate, root: root.certificate)
        let keyID = try #require(good.subjectKeyID)
        let changes: [(inout MatterCertificate) -> Void] = [
            { $0.subject = [.nodeID(1)] }, { $0.subject = [.fabricID(2)] },
            { $0.subject = [.nodeID(1), .fabricID(0xFAB9)] },
            { $0.subject.append(.rcacID(1)) }, { $0.subject.append(.icacID(1)) },
            { $0.subject.append(.firmwareSigningID(1)) },
            { $0.subject += [.authenticatedTag(0x0001_0001), .authenticatedTag(0x0001_0002)] },
            { certificate in certificate.subject += (1...4).map { .authenticatedTag($0 << 16 | 1) } },
            { $0.extensions[0] = .basicConstraints(isAuthority: true) },
            { $0.extensions[1] = .keyUsage(CertificateKeyUsage.certificateSigning) },
            { $0.extensions[2] = .extendedKeyUsage([1]) }, { $0.extensions[2] = .extendedKeyUsage([2]) },
            { $0.extensions.remove(at: 2) }, { $0.extensions.remove(at: 1) }, { $0.extensions.remove(at: 3) },
            { $0.extensions[4] = .authorityKeyID(keyID) }, { $0.issuer = root.certificate.subject },
        ]
        for change in changes {
            expectFault(try resigned(good, by: authority, change), authority.certificate, root.certificate)
        }
        let authorityChanges: [(inout MatterCertificate) -> Void] = [
            { $0.subject = [.icacID(0xCACB), .fabricID(0xFAB9)] },
            { $0.extensions[0] = .basicConstraints(isAuthority: false) },
            { $0.extensions[1] = .keyUsage(CertificateKeyUsage.digitalSignature) },
        ]
        for change in authorityChanges {
            let changed = try resigned(authority.certificate, by: root, change)
            let operational = try resigned(good, by: authority) { $0.issuer = changed.subject }
            expectFault(operational, changed, root.certificate)
        }
        let rootChanges: [(inout MatterCertificate) -> Void] = [
            { $0.extensions[0] = .basicConstraints(isAuthority: true, pathLength: 0) },
            { $0.extensions[0] = .basicConstraints(isAuthority: false) },
            { $0.extensions[1] = .keyUsage(CertificateKeyUsage.digitalSignature) },
            { $0.extensions[3] = .authorityKeyID(keyID) },
        ]
        for change in rootChanges {
            expectFault(good, authority.certificate, try resigned(root.certificate, by: root, change))
        }
    }

    @Test("Validity periods are checked only if the time is known") func datesAreChecked() throws {
        var randomness = HandshakeBytes.randomness(8)
        let root = try CertificateIssuer.root(
            id: 1, validity: .init(notBefore: 1000, notAfter: 2000), randomness: &randomness)
        let operational = try root.operational(
            publicKey: Array(key.publicKey.x963Representation), nodeID: 1, fabricID: 2,
            validity: .init(notBefore: 1200, notAfter: 0), randomness: &randomness)
        for now in [nil, 1200, 2000] as [UInt32?] {
            _ = try CertificateChain.verify(
                operational: operational, intermediate: nil, root: root.certificate, now: now)
        }
        for now in [0, 1199, 2001, .max] as [UInt32] { expectFault(operational, nil, root.certificate, now: now) }
    }

    @Test("An authority is restored only with its own key") func authoritiesAreRestored() throws {
        let (root, other) = (fixture.root, try FabricFixture(seed: 9).root)
        let restored = try CertificateIssuer(certificate: root.certificate, privateKey: root.privateKey)
        #expect(restored.certificate == root.certificate)
        #expect(!"\(restored)".contains("\(root.privateKey[0]), \(root.privateKey[1])"))
        #expect(throws: MatterError.self) {
            try CertificateIssuer(certificate: root.certificate, privateKey: other.privateKey)
        }
        var fixture = fixture
        #expect(throws: MatterError.self) {
            try CASEFabric(
                index: 1, root: root.certificate, intermediate: fixture.intermediate?.certificate,
                operational: try fixture.certificate(key, node: 1), key: other.privateKey, epochKeys: [])
        }
    }
}
