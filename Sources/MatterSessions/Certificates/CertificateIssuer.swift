public import MatterWire

internal import Crypto

/// A certificate authority of a fabric, which issues certificates in TLV (Matter 6.5).
///
/// Secrets of the authority are in memory only. A controller stores ``privateKey`` and ``certificate``.
public struct CertificateIssuer: Sendable, CustomStringConvertible {
    /// The validity of certificates, in seconds since 2000-01-01 00:00 UTC.
    public struct Validity: Hashable, Sendable {
        public var notBefore: UInt32
        /// 0 if the certificate does not expire.
        public var notAfter: UInt32

        public init(notBefore: UInt32, notAfter: UInt32) { (self.notBefore, self.notAfter) = (notBefore, notAfter) }

        /// From 2020 on, without an end.
        public static let unlimited = Validity(notBefore: 631_152_000, notAfter: 0)
    }

    private static let serialLength = 8

    /// The certificate of the authority: a root (RCAC), or an intermediate certificate (ICAC).
    public let certificate: MatterCertificate
    /// The private key of the authority, 32 bytes.
    public let privateKey: [UInt8]

    /// Restores an authority from its stored values.
    ///
    /// - Throws: ``MatterError`` if the private key is not the certificate's.
    public init(certificate: MatterCertificate, privateKey: [UInt8]) throws(MatterError) {
        guard HandshakeCryptography.publicKey(of: privateKey) == certificate.publicKey, certificate.isAuthority else {
            throw .notAuthentic("certificate: the private key is not the authority's")
        }
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Creates a root authority with a new key.
    ///
    /// - Parameters:
    ///   - id: the id of the root (RCAC id).
    ///   - fabricID: the fabric for which alone the root is; nil for any fabric.
    public static func root(
        id: UInt64, fabricID: UInt64? = nil, validity: Validity = .unlimited, randomness: inout MatterRandomness
    ) throws(MatterError) -> CertificateIssuer {
        let key = randomness.signingKey()
        let name = [DistinguishedAttribute.rcacID(id)] + (fabricID.map { [.fabricID($0)] } ?? [])
        let publicKey = Array(key.publicKey.x963Representation)
        let unsigned = MatterCertificate(
            serial: serial(&randomness), issuer: name, subject: name, notBefore: validity.notBefore,
            notAfter: validity.notAfter, publicKey: publicKey,
            extensions: authorityExtensions(publicKey, issuer: publicKey, pathLength: nil))
        return try CertificateIssuer(unsigned: unsigned, key: Array(key.rawRepresentation))
    }

    /// Creates an intermediate authority with a new key.
    ///
    /// - Parameters:
    ///   - id: the id of the authority (ICAC id).
    ///   - fabricID: the fabric for which alone the authority is; nil for any fabric.
    public func intermediate(
        id: UInt64, fabricID: UInt64? = nil, validity: Validity = .unlimited, randomness: inout MatterRandomness
    ) throws(MatterError) -> CertificateIssuer {
        let key = randomness.signingKey()
        let publicKey = Array(key.publicKey.x963Representation)
        let unsigned = MatterCertificate(
            serial: Self.serial(&randomness), issuer: certificate.subject,
            subject: [.icacID(id)] + (fabricID.map { [.fabricID($0)] } ?? []), notBefore: validity.notBefore,
            notAfter: validity.notAfter, publicKey: publicKey,
            extensions: Self.authorityExtensions(publicKey, issuer: certificate.publicKey, pathLength: 0))
        return try CertificateIssuer(certificate: try signed(unsigned), privateKey: Array(key.rawRepresentation))
    }

    /// Issues an operational certificate (NOC).
    ///
    /// - Parameters:
    ///   - publicKey: the node's key, 65 bytes, for example from ``SigningRequest/publicKey(of:)``.
    ///   - tags: CASE authenticated tags, at most ``CertificateChain/tagLimit``.
    public func operational(
        publicKey: [UInt8], nodeID: UInt64, fabricID: UInt64, tags: [UInt32] = [], validity: Validity = .unlimited,
        randomness: inout MatterRandomness
    ) throws(MatterError) -> MatterCertificate {
        guard HandshakeCryptography.isPoint(publicKey) else { throw .invalid("certificate: the key is not valid") }
        return try signed(
            MatterCertificate(
                serial: Self.serial(&randomness), issuer: certificate.subject,
                subject: [.nodeID(nodeID), .fabricID(fabricID)] + tags.map { .authenticatedTag($0) },
                notBefore: validity.notBefore, notAfter: validity.notAfter, publicKey: publicKey,
                extensions: [
                    .basicConstraints(isAuthority: false), .keyUsage(CertificateKeyUsage.digitalSignature),
                    .extendedKeyUsage([2, 1]), .subjectKeyID(Self.keyID(publicKey)),
                    .authorityKeyID(certificate.subjectKeyID ?? Self.keyID(certificate.publicKey)),
                ]))
    }

    /// Signs a certificate with the authority's key. The contents are not checked.
    public func signed(_ certificate: MatterCertificate) throws(MatterError) -> MatterCertificate {
        try Self.signed(certificate, with: privateKey)
    }

    /// The authority without its key.
    public var description: String { "certificate authority \(certificate.subject)" }

    private init(unsigned: MatterCertificate, key: [UInt8]) throws(MatterError) {
        try self.init(certificate: try Self.signed(unsigned, with: key), privateKey: key)
    }

    private static func signed(
        _ certificate: MatterCertificate, with key: [UInt8]
    ) throws(MatterError) -> MatterCertificate {
        var certificate = certificate
        certificate.signature = try HandshakeCryptography.sign(certificate.toBeSigned, with: key)
        return certificate
    }

    private static func authorityExtensions(
        _ publicKey: [UInt8], issuer: [UInt8], pathLength: UInt8?
    ) -> [CertificateExtension] {
        [
            .basicConstraints(isAuthority: true, pathLength: pathLength),
            .keyUsage(CertificateKeyUsage.certificateSigning | CertificateKeyUsage.revocationListSigning),
            .subjectKeyID(keyID(publicKey)), .authorityKeyID(keyID(issuer)),
        ]
    }

    /// A random serial number. The first byte makes the INTEGER positive and its encoding minimal.
    private static func serial(_ randomness: inout MatterRandomness) -> [UInt8] {
        [0x01] + randomness.bytes(serialLength - 1)
    }

    /// The SHA-1 hash of a public key, 20 bytes (RFC 5280, 4.2.1.2). It is an identifier, not protection.
    private static func keyID(_ publicKey: [UInt8]) -> [UInt8] { Array(Insecure.SHA1.hash(data: publicKey)) }
}
