public import MatterWire

/// Checks the files with which a node proves its maker (Matter 6.2, 6.3), so that exchanged files are reported at the
/// start.
public enum AttestationCheck {
    /// The limit of the certification declaration in bytes. It must fit into AttestationResponse.
    public static let declarationLimit = 600

    /// Checks that the parts belong together and to the product.
    ///
    /// - Parameters:
    ///   - dac: the device attestation certificate, X.509 in DER.
    ///   - pai: the product attestation intermediate certificate, X.509 in DER.
    ///   - declaration: the certification declaration, CMS in DER.
    ///   - key: the private key of the device attestation certificate, 32 bytes.
    /// - Throws: ``MatterError`` if a part is not valid, if the private key is not the certificate's, if the
    ///   intermediate certificate did not sign the device's, or if the certificates name a different vendor or product.
    public static func verify(
        dac: [UInt8], pai: [UInt8], declaration: [UInt8], key: [UInt8], vendor: UInt16, product: UInt16
    ) throws(MatterError) {
        guard (1...declarationLimit).contains(declaration.count), declaration.first == DERTag.sequence else {
            throw .invalid("certification declaration: it is not DER of at most \(declarationLimit) bytes")
        }
        let device = try AttestationCertificate(decoding: dac, name: "device attestation certificate")
        let intermediate = try AttestationCertificate(decoding: pai, name: "product attestation certificate")
        guard let publicKey = HandshakeCryptography.publicKey(of: key) else {
            throw .invalid("attestation key: it is not a private key of P-256")
        }
        guard publicKey == device.publicKey else {
            throw .notAuthentic("the attestation key is not the key of the device attestation certificate")
        }
        guard device.isSigned(by: intermediate) else {
            throw .notAuthentic("the product attestation certificate did not sign the device attestation certificate")
        }
        for certificate in [device, intermediate] {
            if let found = certificate.vendor, found != vendor {
                throw .invalid("attestation certificate: it is for vendor \(found), not \(vendor)")
            }
            if let found = certificate.product, found != product {
                throw .invalid("attestation certificate: it is for product \(found), not \(product)")
            }
        }
    }
}

/// The parts of an X.509 certificate that a node checks in its own attestation certificates (RFC 5280).
public struct AttestationCertificate: Hashable, Sendable {
    /// The limit of a certificate in bytes (Matter 6.2.2).
    public static let limit = 600
    /// The vendor id in a name (1.3.6.1.4.1.37244.2.1).
    private static let vendorAttribute: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x02, 0x01]
    /// The product id in a name (1.3.6.1.4.1.37244.2.2).
    private static let productAttribute: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x02, 0x02]

    /// The public key, 65 bytes.
    public let publicKey: [UInt8]
    /// The vendor in the subject, if it has one.
    public let vendor: UInt16?
    /// The product in the subject, if it has one.
    public let product: UInt16?
    private let signed: [UInt8]
    private let signature: [UInt8]
    private let issuer: [UInt8]
    private let subject: [UInt8]

    /// Decodes a certificate.
    ///
    /// - Parameter name: the name of the certificate for errors.
    /// - Throws: ``MatterError`` if the bytes are not X.509 with a P-256 key and an ECDSA signature with SHA-256.
    public init(decoding bytes: [UInt8], name: String = "attestation certificate") throws(MatterError) {
        guard bytes.count <= Self.limit else {
            throw .invalid("\(name): more than \(Self.limit) bytes")
        }
        var outer = DERReader(bytes[...], name)
        var reader = try outer.enter(DERTag.sequence)
        try outer.end()
        let (contents, element) = try reader.read(DERTag.sequence)
        var algorithm = try reader.enter(DERTag.sequence)
        guard try algorithm.contents(DERTag.identifier) == DER.Identifier.ecdsaWithSHA256 else {
            throw .invalid("\(name): the signature is not ECDSA with SHA-256")
        }
        signature = try reader.bits()
        try reader.end()
        signed = Array(element)

        var fields = DERReader(contents, name)
        if fields.nextTag == DERTag.member0 { _ = try fields.read(DERTag.member0) }  // the version
        _ = try fields.read(DERTag.integer)  // the serial number
        _ = try fields.read(DERTag.sequence)  // the signature's algorithm
        issuer = try fields.contents(DERTag.sequence)
        _ = try fields.read(DERTag.sequence)  // the validity
        subject = try fields.contents(DERTag.sequence)
        publicKey = try fields.publicKey()
        (vendor, product) = try Self.product(in: subject, name)
    }

    /// True if the other certificate is the issuer and signed this one.
    func isSigned(by other: AttestationCertificate) -> Bool {
        issuer == other.subject && X509Signature.isValid(signature, of: signed, by: other.publicKey)
    }

    /// Reads the vendor and the product of a subject: four hexadecimal digits each (Matter 6.2.2.2).
    private static func product(
        in subject: [UInt8], _ name: String
    ) throws(MatterError) -> (vendor: UInt16?, product: UInt16?) {
        var sets = DERReader(subject[...], name)
        var found: (vendor: UInt16?, product: UInt16?)
        while !sets.isAtEnd {
            var set = try sets.enter(DERTag.set)
            while !set.isAtEnd {
                var attribute = try set.enter(DERTag.sequence)
                let identifier = try attribute.contents(DERTag.identifier)
                guard let tag = attribute.nextTag else { throw .invalid("\(name): an attribute has no value") }
                let value = try attribute.contents(tag)
                let text = String(decoding: value, as: UTF8.self)
                if identifier == vendorAttribute { found.vendor = try number(text, name) }
                if identifier == productAttribute { found.product = try number(text, name) }
            }
        }
        return found
    }

    private static func number(_ text: String, _ name: String) throws(MatterError) -> UInt16 {
        guard text.utf8.count == 4, let number = UInt16(text, radix: 16) else {
            throw .invalid("\(name): \(text) is not a vendor or product of four hexadecimal digits")
        }
        return number
    }
}
