public import MatterWire

/// Verifies operational certificates (Matter 6.5).
public enum CertificateChain {
    /// The limit of CASE authenticated tags per certificate (Matter 6.6.2.1.2).
    public static let tagLimit = 3
    /// The purposes of an operational certificate: server and client (Matter 6.5.11.3).
    private static let operationalPurposes: Set<UInt8> = [1, 2]

    /// Verifies an operational certificate, its optional intermediate certificate and the root.
    ///
    /// The signatures, roles, names, key identifiers and fabric ids are checked. The root must have signed itself.
    ///
    /// - Parameter now: the time in seconds since 2000-01-01 00:00 UTC, or nil if this node has no clock. The validity
    ///   periods are checked only if the time is known (Matter 6.5.4).
    /// - Throws: ``MatterError`` with the first rule that is violated.
    public static func verify(
        operational: MatterCertificate, intermediate: MatterCertificate?, root: MatterCertificate, now: UInt32? = nil
    ) throws(MatterError) -> (fabricID: UInt64, nodeID: UInt64, tags: [UInt32]) {
        try verify(root: root, now: now)
        var issuer = root
        if let intermediate {
            try verify(intermediate: intermediate, root: root, now: now)
            issuer = intermediate
        }
        let ids = try verify(operational: operational, issuer: issuer, now: now)
        for (authority, name) in [(root, "root"), (issuer, "intermediate")] {
            guard authority.fabricID == nil || authority.fabricID == ids.fabricID else {
                throw .notAuthentic("certificate: the \(name) certificate is for a different fabric")
            }
        }
        return ids
    }

    /// Verifies a root certificate alone, for example one that a commissioner adds.
    public static func verify(root: MatterCertificate, now: UInt32? = nil) throws(MatterError) {
        guard root.rcacID != nil, root.nodeID == nil, root.icacID == nil, !hasFirmwareID(root) else {
            throw .invalid("root certificate: its subject is not that of a root")
        }
        try verify(authority: root, "root certificate")
        guard root.subjectKeyID == root.authorityKeyID else {
            throw .invalid("root certificate: the key identifiers differ")
        }
        try verify(root, signedBy: root, "root certificate", now: now)
    }

    private static func verify(
        intermediate: MatterCertificate, root: MatterCertificate, now: UInt32?
    ) throws(MatterError) {
        guard intermediate.icacID != nil, intermediate.nodeID == nil, intermediate.rcacID == nil,
            !hasFirmwareID(intermediate)
        else { throw .invalid("intermediate certificate: its subject is not that of an intermediate authority") }
        try verify(authority: intermediate, "intermediate certificate")
        guard root.pathLength != 0 else {
            throw .invalid("root certificate: it permits no intermediate certificate")
        }
        try verify(intermediate, signedBy: root, "intermediate certificate", now: now)
    }

    private static func verify(
        operational: MatterCertificate, issuer: MatterCertificate, now: UInt32?
    ) throws(MatterError) -> (fabricID: UInt64, nodeID: UInt64, tags: [UInt32]) {
        guard let nodeID = operational.nodeID, let fabricID = operational.fabricID, operational.rcacID == nil,
            operational.icacID == nil, !hasFirmwareID(operational)
        else { throw .invalid("operational certificate: its subject is not that of a node") }
        guard !operational.isAuthority else {
            throw .invalid("operational certificate: it is a certificate of an authority")
        }
        guard let usage = operational.keyUsage, usage & CertificateKeyUsage.digitalSignature != 0,
            operationalPurposes.isSubset(of: operational.extendedKeyUsage ?? [])
        else { throw .invalid("operational certificate: its key is not for signatures of a server and client") }
        let tags = operational.authenticatedTags
        guard tags.count <= tagLimit, Set(tags.map { $0 >> 16 }).count == tags.count else {
            throw .invalid("operational certificate: more than \(tagLimit) tags, or a tag is repeated")
        }
        try verify(operational, signedBy: issuer, "operational certificate", now: now)
        return (fabricID, nodeID, tags)
    }

    /// Checks the extensions of an authority's certificate (Matter 6.5.11).
    private static func verify(authority: MatterCertificate, _ name: String) throws(MatterError) {
        guard authority.isAuthority else { throw .invalid("\(name): it is not a certificate of an authority") }
        guard let usage = authority.keyUsage, usage & CertificateKeyUsage.certificateSigning != 0 else {
            throw .invalid("\(name): its key is not for certificates")
        }
    }

    private static func verify(
        _ certificate: MatterCertificate, signedBy issuer: MatterCertificate, _ name: String, now: UInt32?
    ) throws(MatterError) {
        if let now {
            guard certificate.notBefore <= now, certificate.notAfter == 0 || now <= certificate.notAfter else {
                throw .notAuthentic("\(name): it is not valid at this time")
            }
        }
        guard certificate.issuer == issuer.subject else { throw .notAuthentic("\(name): a different issuer") }
        guard let keyID = certificate.authorityKeyID, keyID == issuer.subjectKeyID,
            certificate.subjectKeyID != nil
        else { throw .notAuthentic("\(name): the issuer's key has a different identifier") }
        guard HandshakeCryptography.isSigned(certificate.toBeSigned, by: issuer.publicKey, certificate.signature)
        else { throw .notAuthentic("\(name): the signature is not valid") }
    }

    private static func hasFirmwareID(_ certificate: MatterCertificate) -> Bool {
        certificate.subject.contains { if case .firmwareSigningID = $0 { true } else { false } }
    }
}
