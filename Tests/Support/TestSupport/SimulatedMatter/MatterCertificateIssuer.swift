public import Crypto
public import MatterSessions
public import MatterWire

/// The certificate authority of a fabric: it issues operational certificates to the device and to controllers.
public struct MatterCertificateIssuer: Sendable {
    /// The start of the validity in seconds since 2000-01-01.
    private static let start: UInt32 = 0x2000_0000

    /// The fabric id.
    public let fabricID: UInt64
    /// The root certificate.
    public let root: MatterCertificate
    /// The intermediate certificate, if the fabric has one.
    public let intermediate: MatterCertificate?
    /// The fabric's identity protection key (the epoch key of AddNOC).
    public let identityProtectionKey: [UInt8]
    private let rootKey: P256.Signing.PrivateKey
    private let intermediateKey: P256.Signing.PrivateKey?

    /// Creates the authority of a fabric. Equal arguments give equal keys.
    public init(fabric: UInt64, seed: UInt64, hasIntermediate: Bool = false) throws {
        var randomness = MatterRandomness(seed: MatterController.bytes(of: seed, for: "fabric \(fabric)"))
        fabricID = fabric
        identityProtectionKey = randomness.bytes(16)
        rootKey = randomness.signingKey()
        let rootName = [DistinguishedAttribute.rcacID(fabric << 8 | 1)]
        root = try Self.sign(
            Self.authority(rootName, issuer: rootName, rootKey, by: rootKey, pathLength: nil), with: rootKey)
        guard hasIntermediate else {
            (intermediate, intermediateKey) = (nil, nil)
            return
        }
        let key = randomness.signingKey()
        let name = [
            DistinguishedAttribute.icacID(fabric << 8 | 2),
            DistinguishedAttribute.fabricID(fabric),
        ]
        intermediateKey = key
        intermediate = try Self.sign(
            Self.authority(name, issuer: rootName, key, by: rootKey, pathLength: 0), with: rootKey)
    }

    /// Issues the operational certificate of a node for its public key of 65 bytes.
    public func issue(to publicKey: [UInt8], node: UInt64, tags: [UInt32] = []) throws -> MatterCertificate {
        let key = try P256.Signing.PublicKey(x963Representation: publicKey)
        let authority = intermediate ?? root
        let subject =
            [DistinguishedAttribute.nodeID(node), DistinguishedAttribute.fabricID(fabricID)]
            + tags.map { DistinguishedAttribute.authenticatedTag($0) }
        let certificate = MatterCertificate(
            serial: Self.serial(of: publicKey), issuer: authority.subject, subject: subject, notBefore: Self.start,
            notAfter: 0, publicKey: publicKey,
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage(CertificateKeyUsage.digitalSignature),
                .extendedKeyUsage([2, 1]), .subjectKeyID(Self.identifier(of: key)),
                .authorityKeyID(Self.identifier(of: (intermediateKey ?? rootKey).publicKey)),
            ])
        return try Self.sign(certificate, with: intermediateKey ?? rootKey)
    }

    /// Issues a certificate to a key, and returns the node's complete identity in the fabric.
    public func identity(node: UInt64, tags: [UInt32], key: P256.Signing.PrivateKey) throws -> CASEFabric {
        let publicKey = Array(key.publicKey.x963Representation)
        let compressed = FabricIdentity.compressedID(rootPublicKey: root.publicKey, fabricID: fabricID)
        return CASEFabric(
            index: 1, fabricID: fabricID, nodeID: node, rootPublicKey: root.publicKey, root: root,
            operationalCertificate: try issue(to: publicKey, node: node, tags: tags).encoded,
            intermediate: intermediate?.encoded, key: Array(key.rawRepresentation),
            identityProtectionKeys: [
                FabricIdentity.operationalKey(of: identityProtectionKey, compressedID: compressed)
            ], compressedID: compressed)
    }

    private static func authority(
        _ subject: [DistinguishedAttribute], issuer: [DistinguishedAttribute], _ key: P256.Signing.PrivateKey,
        by signer: P256.Signing.PrivateKey, pathLength: UInt8?
    ) -> MatterCertificate {
        let publicKey = Array(key.publicKey.x963Representation)
        return MatterCertificate(
            serial: serial(of: publicKey), issuer: issuer, subject: subject, notBefore: start, notAfter: 0,
            publicKey: publicKey,
            extensions: [
                .basicConstraints(isAuthority: true, pathLength: pathLength),
                .keyUsage(CertificateKeyUsage.certificateSigning | CertificateKeyUsage.revocationListSigning),
                .subjectKeyID(identifier(of: key.publicKey)), .authorityKeyID(identifier(of: signer.publicKey)),
            ])
    }

    private static func sign(
        _ unsigned: MatterCertificate, with key: P256.Signing.PrivateKey
    ) throws -> MatterCertificate {
        var certificate = unsigned
        certificate.signature = Array(try key.signature(for: unsigned.toBeSigned).rawRepresentation)
        return certificate
    }

    /// The identifier of a key: SHA-1 of the public key (RFC 5280 4.2.1.2).
    private static func identifier(of key: P256.Signing.PublicKey) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: key.x963Representation))
    }

    /// A positive serial number that depends on the key.
    private static func serial(of publicKey: [UInt8]) -> [UInt8] {
        [0x11] + Array(SHA256.hash(data: publicKey).prefix(7))
    }
}
