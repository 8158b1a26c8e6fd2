public import Crypto
public import MatterWire

/// The request for an operational certificate: PKCS#10 in DER (Matter 11.18.5.6, RFC 2986).
public enum SigningRequest {
    /// The limit of a request in bytes. It protects a controller against a hostile node.
    public static let limit = 600
    /// organizationName (2.5.4.10).
    private static let organization: [UInt8] = [0x55, 0x04, 0x0A]
    /// extensionRequest (1.2.840.113549.1.9.14).
    private static let extensionRequest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E]

    /// Encodes and signs a request. Its subject has no meaning and is O=CSR, as that of the reference implementation.
    public static func encode(key: P256.Signing.PrivateKey) throws(MatterError) -> [UInt8] {
        let subject = DER.sequence(
            DER.set(DER.sequence(DER.identifier(organization), DER.text("CSR"))))
        // An empty list of extensions. Some parsers require the attribute.
        let attributes = DER.value(
            DERTag.member0, DER.sequence(DER.identifier(extensionRequest), DER.set(DER.sequence())))
        let information = DER.sequence(
            DER.integer(0), subject, DER.publicKey(Array(key.publicKey.x963Representation)), attributes)
        guard let signature = try? key.signature(for: information) else {
            throw .cryptography("ECDSA: the signing request cannot be signed")
        }
        return DER.sequence(
            information, DER.sequence(DER.identifier(DER.Identifier.ecdsaWithSHA256)),
            DER.bitString(Array(signature.derRepresentation)))
    }

    /// Verifies the signature of a request and returns its public key, 65 bytes.
    public static func publicKey(of request: [UInt8]) throws(MatterError) -> [UInt8] {
        guard request.count <= limit else { throw .exceedsLimit("a signing request has more than \(limit) bytes") }
        var outer = DERReader(request[...], "signing request")
        var reader = try outer.enter(DERTag.sequence)
        try outer.end()
        let (contents, signed) = try reader.read(DERTag.sequence)
        var information = DERReader(contents, "signing request")
        guard try information.contents(DERTag.integer) == [0] else { throw .invalid("signing request: not version 1") }
        _ = try information.read(DERTag.sequence)
        let key = try information.publicKey()
        var algorithm = try reader.enter(DERTag.sequence)
        guard try algorithm.contents(DERTag.identifier) == DER.Identifier.ecdsaWithSHA256 else {
            throw .invalid("signing request: the signature is not ECDSA with SHA-256")
        }
        let signature = try reader.bits()
        try reader.end()
        guard X509Signature.isValid(signature, of: Array(signed), by: key) else {
            throw .notAuthentic("signing request: the signature is not valid")
        }
        return key
    }
}

/// Signatures in DER, as X.509 and PKCS#10 have them.
enum X509Signature {
    static func isValid(_ signature: [UInt8], of message: [UInt8], by key: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: key),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
