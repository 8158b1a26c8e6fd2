/// A certificate in Matter's TLV form (Matter 6.5). Its signature covers the X.509 form: ``toBeSigned``.
public struct MatterCertificate: Hashable, Sendable {
    /// The limit of an encoded certificate in bytes (Matter 6.1.3).
    public static let limit = 400

    /// The content of the serial number's INTEGER, at most 20 bytes.
    public var serial: [UInt8]
    /// The name of the issuer.
    public var issuer: [DistinguishedAttribute]
    /// The name of the subject.
    public var subject: [DistinguishedAttribute]
    /// The start of the validity, in seconds since 2000-01-01 00:00 UTC.
    public var notBefore: UInt32
    /// The end of the validity, in seconds since 2000-01-01 00:00 UTC, or 0 if the certificate does not expire.
    public var notAfter: UInt32
    /// The subject's public key, an uncompressed P-256 point of 65 bytes.
    public var publicKey: [UInt8]
    /// The extensions in their order, which the signature covers.
    public var extensions: [CertificateExtension]
    /// The ECDSA signature, r and s of 32 bytes each.
    public var signature: [UInt8]

    /// Creates a certificate. To issue one, sign ``toBeSigned`` and set ``signature``.
    public init(
        serial: [UInt8], issuer: [DistinguishedAttribute], subject: [DistinguishedAttribute], notBefore: UInt32,
        notAfter: UInt32, publicKey: [UInt8], extensions: [CertificateExtension], signature: [UInt8] = []
    ) {
        (self.serial, self.issuer, self.subject) = (serial, issuer, subject)
        (self.notBefore, self.notAfter, self.publicKey) = (notBefore, notAfter, publicKey)
        (self.extensions, self.signature) = (extensions, signature)
    }

    /// Decodes a certificate and checks its form. The signature, the chain and the rules for the roles are not checked.
    ///
    /// - Throws: ``MatterError`` if the bytes are not a certificate of at most ``limit`` bytes.
    public init(decoding bytes: some Collection<UInt8>) throws(MatterError) {
        guard bytes.count <= Self.limit else { throw .exceedsLimit("certificate: \(bytes.count) bytes") }
        let value = try TLVValue(decoding: bytes)
        guard case .structure(let members) = value,
            members.map(\.tag) == (1...11).map({ .context($0) })
        else { throw .invalid("certificate: its members are not the eleven in their order") }
        for (tag, name) in [(2, "signature"), (7, "key"), (8, "curve")] as [(UInt8, String)] {
            let algorithm = try value.field(tag, UInt8.self, of: "certificate")
            guard algorithm == 1 else { throw .unsupported("certificate: algorithm \(algorithm) of the \(name)") }
        }
        serial = try Self.bytes(value, 1, 1...20)
        issuer = try Self.name(value, 3)
        subject = try Self.name(value, 6)
        notBefore = try value.field(4, UInt32.self, of: "certificate")
        notAfter = try value.field(5, UInt32.self, of: "certificate")
        guard notAfter == 0 || notBefore < notAfter else { throw .invalid("certificate: it ends before it begins") }
        publicKey = try Self.bytes(value, 9, 65...65)
        guard publicKey.first == 4 else { throw .invalid("certificate: the public key is not an uncompressed point") }
        guard case .list(let items)? = value[10] else { throw .invalid("certificate: the extensions are not a list") }
        extensions = try items.map { item throws(MatterError) in try CertificateExtension(item) }
        let known = extensions.map(\.tag).filter { $0 != 6 }
        guard Set(known).count == known.count else { throw .invalid("certificate: an extension is repeated") }
        signature = try Self.bytes(value, 11, 64...64)
    }

    private static func bytes(
        _ value: TLVValue, _ tag: UInt8, _ range: ClosedRange<Int>
    ) throws(MatterError) -> [UInt8] {
        guard let bytes = value[tag]?.asBytes, range.contains(bytes.count) else {
            throw .invalid("certificate: member \(tag) does not have \(range.lowerBound) to \(range.upperBound) bytes")
        }
        return bytes
    }

    private static func name(_ value: TLVValue, _ tag: UInt8) throws(MatterError) -> [DistinguishedAttribute] {
        guard case .list(let items)? = value[tag], (1...DistinguishedAttribute.limit).contains(items.count) else {
            throw .invalid("certificate: a name does not have 1 to \(DistinguishedAttribute.limit) attributes")
        }
        let name = try items.map { item throws(MatterError) in try DistinguishedAttribute(item) }
        let unique = zip(name, items).filter { !$0.0.mayRepeat }.map(\.1.tag)
        guard Set(unique).count == unique.count else { throw .invalid("certificate: a name has an id twice") }
        return name
    }

    /// The certificate in TLV.
    public var encoded: [UInt8] {
        TLVValue.fields(
            (1, .bytes(serial)), (2, .unsigned(1)), (3, .list(issuer.map(\.tlv))), (4, .unsigned(UInt64(notBefore))),
            (5, .unsigned(UInt64(notAfter))), (6, .list(subject.map(\.tlv))), (7, .unsigned(1)), (8, .unsigned(1)),
            (9, .bytes(publicKey)), (10, .list(extensions.map(\.tlv))), (11, .bytes(signature))
        ).encoded
    }

    /// The TBSCertificate of the X.509 form in DER, which the issuer signs (Matter 6.5.2, RFC 5280).
    public var toBeSigned: [UInt8] {
        DER.sequence(
            DER.value(0xA0, DER.integer(2)), DER.value(0x02, serial),
            DER.sequence(DER.identifier(DER.Identifier.ecdsaWithSHA256)), DER.sequence(of: issuer.map(\.der)),
            DER.sequence(DER.time(notBefore), notAfter == 0 ? DER.noExpiration : DER.time(notAfter)),
            DER.sequence(of: subject.map(\.der)), DER.publicKey(publicKey),
            DER.value(0xA3, DER.sequence(of: extensions.map(\.der))))
    }
}

extension MatterCertificate {
    /// The subject's node id, which only an operational certificate has.
    public var nodeID: UInt64? {
        for case .nodeID(let id) in subject { return id }
        return nil
    }

    /// The subject's fabric id, which certificates of authorities may omit.
    public var fabricID: UInt64? {
        for case .fabricID(let id) in subject { return id }
        return nil
    }

    /// The subject's root authority id, which only a root certificate has.
    public var rcacID: UInt64? {
        for case .rcacID(let id) in subject { return id }
        return nil
    }

    /// The subject's intermediate authority id, which only an intermediate certificate has.
    public var icacID: UInt64? {
        for case .icacID(let id) in subject { return id }
        return nil
    }

    /// The subject's CASE authenticated tags.
    public var authenticatedTags: [UInt32] {
        subject.compactMap { if case .authenticatedTag(let tag) = $0 { tag } else { nil } }
    }

    /// True for the certificate of an authority.
    public var isAuthority: Bool {
        for case .basicConstraints(let isAuthority, _) in extensions { return isAuthority }
        return false
    }

    /// The limit of intermediate certificates below an authority, or nil for an unlimited number.
    public var pathLength: UInt8? {
        for case .basicConstraints(_, let pathLength) in extensions { return pathLength }
        return nil
    }

    /// The permitted uses of the key (``CertificateKeyUsage``), or nil without this extension.
    public var keyUsage: UInt16? {
        for case .keyUsage(let usage) in extensions { return usage }
        return nil
    }

    /// The purposes of the key, or nil without this extension.
    public var extendedKeyUsage: [UInt8]? {
        for case .extendedKeyUsage(let purposes) in extensions { return purposes }
        return nil
    }

    /// The id of the subject's key, or nil without this extension.
    public var subjectKeyID: [UInt8]? {
        for case .subjectKeyID(let id) in extensions { return id }
        return nil
    }

    /// The id of the issuer's key, or nil without this extension.
    public var authorityKeyID: [UInt8]? {
        for case .authorityKeyID(let id) in extensions { return id }
        return nil
    }
}
