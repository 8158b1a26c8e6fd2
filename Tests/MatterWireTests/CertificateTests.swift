import MatterWire
import Testing

@Suite struct CertificateTests {
    @Test("The signed bytes are those of the X.509 form, and encoding restores the TLV form")
    func vectors() throws {
        for vector in CertificateVectors.all {
            let certificate = try MatterCertificate(decoding: vector.tlv)
            #expect(certificate.toBeSigned == vector.toBeSigned, "\(vector.name)")
            #expect(certificate.encoded == vector.tlv, "\(vector.name)")
        }
        #expect(CertificateVectors.all.count == 13)
    }

    @Test("The fields of a root, an intermediate and an operational certificate are found") func fields() throws {
        let root = try MatterCertificate(decoding: CertificateVectors.root.tlv)
        let intermediate = try MatterCertificate(decoding: CertificateVectors.intermediate.tlv)
        let node = try MatterCertificate(decoding: CertificateVectors.node.tlv)
        #expect(root.rcacID == 0xCACA_CACA_0000_000A && root.fabricID == 0xFABF_AB00_0000_000A)
        #expect(root.isAuthority && root.issuer == root.subject && root.subjectKeyID == root.authorityKeyID)
        #expect(root.keyUsage == CertificateKeyUsage.certificateSigning | CertificateKeyUsage.revocationListSigning)
        #expect(root.pathLength == nil && root.extendedKeyUsage == nil && root.nodeID == nil)
        #expect(intermediate.icacID == 0x0A0A_0A0A_0000_00A1 && intermediate.isAuthority)
        #expect(intermediate.issuer == root.subject && intermediate.authorityKeyID == root.subjectKeyID)
        #expect(node.nodeID == 0x1122_3344 && node.fabricID == root.fabricID && !node.isAuthority)
        #expect(node.issuer == intermediate.subject && node.authorityKeyID == intermediate.subjectKeyID)
        #expect(node.keyUsage == CertificateKeyUsage.digitalSignature && node.extendedKeyUsage == [1, 2])
        #expect(node.serial == bytes("09BAA5B68B8471D8") && node.notBefore < node.notAfter)
        #expect(node.rcacID == nil && node.icacID == nil && node.authenticatedTags == [])
    }

    @Test("Authenticated tags and a validity without end are decoded") func tags() throws {
        let vector = try #require(CertificateVectors.all.first { $0.name == "tags" })
        let certificate = try MatterCertificate(decoding: vector.tlv)
        #expect(certificate.authenticatedTags == [0xABCD_0004, 0x0F0E_0001, 0x0001_0002])
        #expect(certificate.notAfter == 0)
    }

    /// Returns the node's certificate after a change.
    private static func node(_ change: (inout MatterCertificate) -> Void) throws -> MatterCertificate {
        var certificate = try MatterCertificate(decoding: CertificateVectors.node.tlv)
        change(&certificate)
        return certificate
    }

    private static let changes: [(String, @Sendable (inout MatterCertificate) -> Void)] = [
        ("serial of 21 bytes", { $0.serial = .init(repeating: 1, count: 21) }),
        ("no serial", { $0.serial = [] }),
        ("short key", { $0.publicKey.removeLast() }),
        ("compressed key", { $0.publicKey[0] = 2 }),
        ("short signature", { $0.signature.removeLast() }),
        ("validity that ends first", { $0.notAfter = $0.notBefore }),
        ("empty subject", { $0.subject = [] }),
        ("six attributes", { $0.subject = .init(repeating: .authenticatedTag(1), count: 6) }),
        ("two node ids", { $0.subject.append(.nodeID(2)) }),
        ("two fabric ids", { $0.subject.append(.fabricID(2)) }),
        ("node id 0", { $0.subject[0] = .nodeID(0) }),
        ("group node id", { $0.subject[0] = .nodeID(0xFFFF_FFFF_FFFF_0001) }),
        ("fabric id 0", { $0.subject[1] = .fabricID(0) }),
        ("tag with version 0", { $0.subject.append(.authenticatedTag(0xABCD_0000)) }),
        ("PrintableString of a domain", { $0.subject.append(.text(.domainComponent, "a", isPrintable: true)) }),
        ("repeated extension", { $0.extensions.append(.keyUsage(1)) }),
        ("key id of 8 bytes", { $0.extensions[1] = .subjectKeyID(.init(repeating: 1, count: 8)) }),
        ("key purpose 7", { $0.extensions.append(.extendedKeyUsage([7])) }),
        ("no key purpose", { $0.extensions.append(.extendedKeyUsage([])) }),
        ("extension that is not DER", { $0.extensions.append(.other([0x30, 5, 6, 1, 0x2A])) }),
        ("critical extension", { $0.extensions.append(.other(bytes("300B 0603 2A0304 0101FF 0401 05"))) }),
        ("known extension as unknown", { $0.extensions.append(.other(bytes("3008 0603 551D13 0401 30"))) }),
        ("more than 400 bytes", { $0.subject.append(.text(.commonName, .init(repeating: "a", count: 200))) }),
    ]

    @Test("A certificate with one fault is rejected", arguments: changes.indices) func faults(index: Int) throws {
        let (name, change) = Self.changes[index]
        var certificate = try Self.node { $0.extensions.removeAll { $0 == .extendedKeyUsage([1, 2]) } }
        #expect(try MatterCertificate(decoding: certificate.encoded) == certificate)
        change(&certificate)
        #expect(throws: MatterError.self, "\(name)") { try MatterCertificate(decoding: certificate.encoded) }
    }

    @Test("Members in a wrong order, missing or repeated members and other algorithms are rejected")
    func members() throws {
        guard case .structure(let members) = try TLVValue(decoding: CertificateVectors.node.tlv) else {
            Issue.record("the certificate is not a structure")
            return
        }
        func expectFailure(_ members: [TLVElement]) {
            #expect(throws: MatterError.self) { try MatterCertificate(decoding: TLVValue.structure(members).encoded) }
        }
        for index in members.indices {
            var changed = members
            changed.remove(at: index)
            expectFailure(changed)
            changed.insert(members[index], at: (index + 5) % members.count)
            expectFailure(changed)
            expectFailure(members + [members[index]])
            changed = members
            changed[index].value = .null
            expectFailure(changed)
        }
        for index in [1, 6, 7] {
            var changed = members
            changed[index].value = .unsigned(2)
            expectFailure(changed)
        }
    }

    @Test("A certificate with changed bytes is rejected or decoded to a different certificate")
    func changedBytes() throws {
        let original = CertificateVectors.node.tlv
        let certificate = try MatterCertificate(decoding: original)
        for index in original.indices {
            var changed = original
            changed[index] ^= 0x10
            guard let other = try? MatterCertificate(decoding: changed) else { continue }
            #expect(other != certificate)
            #expect(other.toBeSigned != certificate.toBeSigned || other.signature != certificate.signature)
        }
    }
}
