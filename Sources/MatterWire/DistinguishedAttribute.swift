/// An attribute of the issuer or subject of a certificate (Matter 6.5.6).
public enum DistinguishedAttribute: Hashable, Sendable {
    /// The node id of an operational certificate.
    case nodeID(UInt64)
    /// The id of a firmware signing certificate.
    case firmwareSigningID(UInt64)
    /// The id of an intermediate authority.
    case icacID(UInt64)
    /// The id of a root authority.
    case rcacID(UInt64)
    /// The fabric id.
    case fabricID(UInt64)
    /// A CASE authenticated tag: an identifier in the upper and a version in the lower 16 bits.
    case authenticatedTag(UInt32)
    /// A standard attribute. `isPrintable` is true for a PrintableString, and false for a UTF8String or an IA5String.
    case text(TextAttribute, String, isPrintable: Bool = false)

    /// The standard attributes with their context tags (Matter 6.5.6.1).
    public enum TextAttribute: UInt8, Hashable, Sendable, CaseIterable {
        /// The common name.
        case commonName = 1
        /// The surname.
        case surname = 2
        /// The serial number.
        case serialNumber = 3
        /// The country.
        case country = 4
        /// The locality.
        case locality = 5
        /// The state or province.
        case state = 6
        /// The organization.
        case organization = 7
        /// The organizational unit.
        case organizationalUnit = 8
        /// The title.
        case title = 9
        /// The name.
        case name = 10
        /// The given name.
        case givenName = 11
        /// The initials.
        case initials = 12
        /// The generation qualifier.
        case generationQualifier = 13
        /// The qualifier of the distinguished name.
        case nameQualifier = 14
        /// The pseudonym.
        case pseudonym = 15
        /// The domain component.
        case domainComponent = 16

        /// The encoding of the object identifier.
        fileprivate var identifier: [UInt8] {
            let attribute: UInt8
            switch self {
            case .commonName: attribute = 3
            case .surname: attribute = 4
            case .serialNumber: attribute = 5
            case .country: attribute = 6
            case .locality: attribute = 7
            case .state: attribute = 8
            case .organization: attribute = 10
            case .organizationalUnit: attribute = 11
            case .title: attribute = 12
            case .name: attribute = 41
            case .givenName: attribute = 42
            case .initials: attribute = 43
            case .generationQualifier: attribute = 44
            case .nameQualifier: attribute = 46
            case .pseudonym: attribute = 65
            case .domainComponent: return [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19]
            }
            return [0x55, 0x04, attribute]
        }
    }

    /// The limit of attributes per name (Matter 6.1.1).
    static let limit = 5
    /// Marks a PrintableString in the tag of a standard attribute.
    private static let printableFlag: UInt8 = 0x80
    /// The range of operational node ids (Matter 2.5.5).
    private static let operationalNodes: ClosedRange<UInt64> = 1...0xFFFF_FFEF_FFFF_FFFF

    init(_ element: TLVElement) throws(MatterError) {
        guard case .context(let tag) = element.tag else {
            throw .invalid("certificate: a name has an attribute without a tag")
        }
        if let kind = TextAttribute(rawValue: tag & ~Self.printableFlag) {
            let isPrintable = tag & Self.printableFlag != 0
            guard let text = element.value.asText, !(isPrintable && kind == .domainComponent) else {
                throw .invalid("certificate: attribute \(tag) of a name is not valid")
            }
            self = .text(kind, text, isPrintable: isPrintable)
            return
        }
        guard let number = element.value.asUnsigned else {
            throw .invalid("certificate: attribute \(tag) of a name is not a number")
        }
        switch tag {
        case 17:
            guard Self.operationalNodes.contains(number) else { throw .invalid("certificate: node id out of range") }
            self = .nodeID(number)
        case 18: self = .firmwareSigningID(number)
        case 19: self = .icacID(number)
        case 20: self = .rcacID(number)
        case 21:
            guard number != 0 else { throw .invalid("certificate: fabric id 0") }
            self = .fabricID(number)
        case 22:
            guard let value = UInt32(exactly: number), value & 0xFFFF != 0 else {
                throw .invalid("certificate: an authenticated tag has version 0 or more than 32 bits")
            }
            self = .authenticatedTag(value)
        default: throw .unsupported("certificate: attribute \(tag) of a name")
        }
    }

    /// The attribute as a member of a name in TLV.
    var tlv: TLVElement {
        switch self {
        case .nodeID(let id): TLVElement(.context(17), .unsigned(id))
        case .firmwareSigningID(let id): TLVElement(.context(18), .unsigned(id))
        case .icacID(let id): TLVElement(.context(19), .unsigned(id))
        case .rcacID(let id): TLVElement(.context(20), .unsigned(id))
        case .fabricID(let id): TLVElement(.context(21), .unsigned(id))
        case .authenticatedTag(let tag): TLVElement(.context(22), .unsigned(UInt64(tag)))
        case .text(let kind, let text, let isPrintable):
            TLVElement(.context(kind.rawValue | (isPrintable ? Self.printableFlag : 0)), .text(text))
        }
    }

    /// The attribute as a RelativeDistinguishedName in DER. Ids are upper-case hexadecimal texts.
    var der: [UInt8] {
        switch self {
        case .nodeID(let id): Self.der(1, Self.hexadecimal(id, digits: 16))
        case .firmwareSigningID(let id): Self.der(2, Self.hexadecimal(id, digits: 16))
        case .icacID(let id): Self.der(3, Self.hexadecimal(id, digits: 16))
        case .rcacID(let id): Self.der(4, Self.hexadecimal(id, digits: 16))
        case .fabricID(let id): Self.der(5, Self.hexadecimal(id, digits: 16))
        case .authenticatedTag(let tag): Self.der(6, Self.hexadecimal(UInt64(tag), digits: 8))
        case .text(let kind, let text, let isPrintable):
            DER.set(
                DER.sequence(
                    DER.identifier(kind.identifier),
                    DER.value(kind == .domainComponent ? 0x16 : isPrintable ? 0x13 : 0x0C, Array(text.utf8))))
        }
    }

    /// Returns an attribute whose identifier is 1.3.6.1.4.1.37244.1 and the number.
    private static func der(_ number: UInt8, _ text: String) -> [UInt8] {
        let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x01, number]
        return DER.set(DER.sequence(DER.identifier(identifier), DER.text(text)))
    }

    private static func hexadecimal(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// True if a name may have several attributes of this kind.
    var mayRepeat: Bool {
        switch self {
        case .authenticatedTag, .text: true
        case .nodeID, .firmwareSigningID, .icacID, .rcacID, .fabricID: false
        }
    }
}
