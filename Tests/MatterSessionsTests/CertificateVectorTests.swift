import Crypto
import MatterWire
import ProtocolCore
import Testing

/// Test certificates of the reference SDK in TLV form. Their signatures were made over the X.509 form.
@Suite struct CertificateVectorTests {
    /// UnitTest_RootA.
    private static let root = Base64.decode(
        """
        FTABCGS1PhbRbGIQJAIBNwMnFAoAAADKysrKJxUKAAAAAKu/+hgmBIy6ByomBQxYpk83BicUCgAAAMrKysonFQoAAAAAq7/6GCQHASQIATAJQQR\
        b3ZZYA19sJmnpJ/DBq6B50yNEg8GCOXhLGg0Ff2LOcoyuO5/vSRjw6Og7bphxgXm3j2Y6SQ98Mg5di3x2VWouNwo1ASkBGDAEFAX0gTsH/LJuVs\
        hWPDsRlx/20a0fMAUUBfSBOwf8sm5WyFY8OxGXH/bRrR8kAmAYMAtA5Bj091RbnaHj3Z+0cBpH2spBgFb8auFxAqH8xtKCAldt/Uun6xwdOIr7b\
        k3tMx/zkff7K7ZZhWtLQhs1mxXowBg=
        """)

    /// UnitTest_IA_A1, issued by the root.
    private static let intermediate = Base64.decode(
        """
        FTABCC6fiFm1DComJAIBNwMnFAoAAADKysrKJxUKAAAAAKu/+hgmBGixByomBehOpk83BicToQAAAAoKCgoYJAcBJAgBMAlBBAuTE2/KG8c4ZF7\
        AgJ6qB6eJmWtV/GWqsQyf+advBxV4zy+99NwGgrsX28keNqcupMdE/u/1NMNEdtq026K6A+83CjUBKQEYMAQU1GQYq0zjfmnL4ROh6ahKY3OUch\
        AwBRQF9IE7B/yyblbIVjw7EZcf9tGtHyQCYBgwC0BuEMVXiByWtqgS8zThWSZutWAuUDtJWecd8zhCnCXtMkXaWjIdckcZqaDtkQrRCK39tOYd0\
        EQG4r7Rq2kwQXECGA==
        """)

    /// UnitTest_NodeA1, issued by the intermediate authority.
    private static let node = Base64.decode(
        """
        FTABCAm6pbaLhHHYJAIBNwMnE6EAAAAKCgoKGCYEWLIHKiYF2E+mTzcGJhFEMyIRJxUKAAAAAKu/+hgkBwEkCAEwCUEEOJuexJ6ESMCPNBScPql\
        H0Uniu/WTk0dfqRZxOseB0nP4tSmyj766Hjon0UJn1AxepyVLYld9ADAwJ9ioT6ERoDcKNQEoARgwBBRpjfvtSqxN5ziVxk++Xm/uzpv5WTAFFN\
        RkGKtM435py+EToemoSmNzlHIQJAIBNgMEAQQCGBgwC0C6nsMBehIai3L9msdPAGiYoShdVvyK2U9WVW9rK5QfHBrdZkQt5caOrlLApFO9UKRft\
        WqWemvCdDxUgeIcSgQUGA==
        """)

    private static func verify(_ certificate: MatterCertificate, by issuer: MatterCertificate) throws -> Bool {
        try P256.Signing.PublicKey(x963Representation: issuer.publicKey).isValidSignature(
            try P256.Signing.ECDSASignature(rawRepresentation: certificate.signature), for: certificate.toBeSigned)
    }

    @Test("The signatures of the reference SDK's certificates are valid, and those of changed certificates are not")
    func signatures() throws {
        let root = try MatterCertificate(decoding: try #require(Self.root))
        let intermediate = try MatterCertificate(decoding: try #require(Self.intermediate))
        let node = try MatterCertificate(decoding: try #require(Self.node))
        #expect(try Self.verify(root, by: root))
        #expect(try Self.verify(intermediate, by: root))
        #expect(try Self.verify(node, by: intermediate))
        #expect(try !Self.verify(node, by: root))
        var changed = node
        changed.notAfter += 1
        #expect(try !Self.verify(changed, by: intermediate))
        changed = node
        changed.extensions.reverse()
        #expect(try !Self.verify(changed, by: intermediate))
    }

    @Test("A certificate that was issued here is valid after decoding") func issuing() throws {
        let key = P256.Signing.PrivateKey()
        var certificate = MatterCertificate(
            serial: [1], issuer: [.rcacID(1)], subject: [.nodeID(2), .fabricID(3), .authenticatedTag(0x0001_0001)],
            notBefore: 700_000_000, notAfter: 0, publicKey: Array(key.publicKey.x963Representation),
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage(CertificateKeyUsage.digitalSignature),
                .extendedKeyUsage([1, 2]), .subjectKeyID(.init(repeating: 1, count: 20)),
                .authorityKeyID(.init(repeating: 2, count: 20)),
            ])
        certificate.signature = Array(try key.signature(for: certificate.toBeSigned).rawRepresentation)
        let decoded = try MatterCertificate(decoding: certificate.encoded)
        #expect(decoded == certificate)
        #expect(try Self.verify(decoded, by: certificate))
    }
}
