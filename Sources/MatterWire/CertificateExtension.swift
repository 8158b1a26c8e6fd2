/// An extension of a certificate (Matter 6.5.11).
public enum CertificateExtension: Hashable, Sendable {
    /// True for the certificate of an authority, and the limit of intermediate certificates below it.
    case basicConstraints(isAuthority: Bool, pathLength: UInt8? = nil)
    /// The permitted uses of the key: ``CertificateKeyUsage``.
    case keyUsage(UInt16)
    /// The purposes of the key: 1 server, 2 client, and more (Matter 6.5.11.3).
    case extendedKeyUsage([UInt8])
    /// The id of the subject's key, 20 bytes.
    case subjectKeyID([UInt8])
    /// The id of the issuer's key, 20 bytes.
    case authorityKeyID([UInt8])
    /// An extension that is not critical, in DER.
    case other([UInt8])

    /// The purposes of keys in the order of their numbers, from 1 on, as the last bytes of 1.3.6.1.5.5.7.3.
    private static let purposes: [UInt8] = [1, 2, 3, 4, 8, 9]
    /// The last bytes of the object identifiers 2.5.29 in the order of the context tags, from 1 on.
    private static let identifiers: [UInt8] = [0x13, 0x0F, 0x25, 0x0E, 0x23]

    init(_ element: TLVElement) throws(MatterError) {
        guard case .context(let tag) = element.tag else { throw .invalid("certificate: an extension has no tag") }
        let value = element.value
        switch tag {
        case 1:
            guard case .structure = value, let isAuthority = value[1]?.asBoolean else {
                throw .invalid("certificate: the basic constraints are not valid")
            }
            self = .basicConstraints(isAuthority: isAuthority, pathLength: try value.optional(2, UInt8.self))
        case 2:
            guard let usage = value.unsigned(UInt16.self), usage < 0x200 else {
                throw .invalid("certificate: the key usage is not valid")
            }
            self = .keyUsage(usage)
        case 3:
            let purposes = value.elements?.compactMap { $0.unsigned(UInt8.self) } ?? []
            guard !purposes.isEmpty, purposes.count == value.elements?.count,
                purposes.allSatisfy({ (1...Self.purposes.count).contains(Int($0)) })
            else { throw .invalid("certificate: the extended key usage is not valid") }
            self = .extendedKeyUsage(purposes)
        case 4, 5:
            guard let id = value.asBytes, id.count == 20 else {
                throw .invalid("certificate: a key identifier does not have 20 bytes")
            }
            self = tag == 4 ? .subjectKeyID(id) : .authorityKeyID(id)
        case 6:
            guard let bytes = value.asBytes else { throw .invalid("certificate: an extension is not an octet string") }
            try Self.validate(other: bytes)
            self = .other(bytes)
        default: throw .unsupported("certificate: extension \(tag)")
        }
    }

    /// Throws unless the bytes are one short SEQUENCE that begins with an unknown object identifier, and the extension
    /// is not critical.
    private static func validate(other bytes: [UInt8]) throws(MatterError) {
        var reader = ByteReader(bytes[...], "extension of a certificate")
        let header = try reader.bytes(2)
        let length =
            header.last == 0x81 ? try reader.integer(UInt8.self) : header.last.flatMap { $0 < 0x80 ? $0 : nil }
        guard header.first == 0x30, let length, Int(length) == reader.rest.count,
            try reader.integer(UInt8.self) == 0x06
        else { throw .invalid("certificate: an extension is not a SEQUENCE with an identifier") }
        let identifier = try reader.bytes(Int(try reader.integer(UInt8.self)))
        guard !identifiers.contains(where: { identifier.elementsEqual([0x55, 0x1D, $0]) }) else {
            throw .invalid("certificate: a known extension is encoded as an unknown one")
        }
        guard reader.rest.first == 0x04 else { throw .unsupported("certificate: unknown critical extension") }
    }

    /// The context tag.
    var tag: UInt8 {
        switch self {
        case .basicConstraints: 1
        case .keyUsage: 2
        case .extendedKeyUsage: 3
        case .subjectKeyID: 4
        case .authorityKeyID: 5
        case .other: 6
        }
    }

    /// The extension in TLV.
    var tlv: TLVElement {
        let value: TLVValue
        switch self {
        case .basicConstraints(let isAuthority, let pathLength):
            value = .fields((1, .boolean(isAuthority)), (2, pathLength.tlv))
        case .keyUsage(let usage): value = .unsigned(UInt64(usage))
        case .extendedKeyUsage(let purposes): value = .array(purposes.map { .unsigned(UInt64($0)) })
        case .subjectKeyID(let id), .authorityKeyID(let id): value = .bytes(id)
        case .other(let bytes): value = .bytes(bytes)
        }
        return TLVElement(.context(tag), value)
    }

    /// The extension in DER.
    var der: [UInt8] {
        switch self {
        case .basicConstraints(let isAuthority, let pathLength):
            let members = (isAuthority ? DER.value(0x01, [0xFF]) : []) + (pathLength.map(DER.integer) ?? [])
            return der(DER.sequence(members), isCritical: true)
        case .keyUsage(let usage): return der(DER.namedBits(usage), isCritical: true)
        case .extendedKeyUsage(let purposes):
            let identifiers = purposes.filter { (1...Self.purposes.count).contains(Int($0)) }.map {
                DER.identifier([0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, Self.purposes[Int($0) - 1]])
            }
            return der(DER.sequence(of: identifiers), isCritical: true)
        case .subjectKeyID(let id): return der(DER.octetString(id), isCritical: false)
        case .authorityKeyID(let id): return der(DER.sequence(DER.value(0x80, id)), isCritical: false)
        case .other(let bytes): return bytes
        }
    }

    private func der(_ content: [UInt8], isCritical: Bool) -> [UInt8] {
        DER.sequence(
            DER.identifier([0x55, 0x1D, Self.identifiers[Int(tag) - 1]]),
            isCritical ? DER.value(0x01, [0xFF]) : [], DER.octetString(content))
    }
}

/// The bits of the key usage (Matter 6.5.11.2).
public enum CertificateKeyUsage {
    /// The key verifies signatures other than those of certificates.
    public static let digitalSignature: UInt16 = 0x0001
    /// The key verifies certificates.
    public static let certificateSigning: UInt16 = 0x0020
    /// The key verifies revocation lists.
    public static let revocationListSigning: UInt16 = 0x0040
}
