import Crypto

/// Encodes a self-signed certificate in DER (RFC 5280 section 4.1), because the TLS library transmits public keys only
/// in certificates. A library for certificates would take a fifth of the firmware's size.
enum SelfSignedCertificate {
    /// Creates a certificate.
    ///
    /// - Parameter names: the DNS names of a web server, which browsers require. Empty for plugs and controllers.
    static func der(for key: P256.Signing.PrivateKey, names: [String] = []) -> [UInt8] {
        // A serial number must be positive and encoded in as few bytes as possible; a first byte from 0x40 to 0x7F
        // ensures both.
        let serial = [.random(in: 0x40...0x7F)] + (0..<15).map { _ in UInt8.random(in: .min ... .max) }
        let algorithm = sequence([ecdsaWithSHA256])
        let name = sequence([element(set, sequence([commonName, element(utf8String, Array("smartplug".utf8))]))])
        let toBeSigned = sequence([
            element(explicitVersion, element(integer, [2])),  // the third version
            element(integer, serial), algorithm, name, validity, name,
            Array(key.publicKey.derRepresentation),
            names.isEmpty ? [] : element(explicitExtensions, sequence([alternativeNames(names), serverUsage])),
        ])
        guard let signature = try? key.signature(for: toBeSigned) else {
            preconditionFailure("a P-256 key signs everything")
        }
        // The first byte of a bit string is the number of unused bits in its last byte.
        return sequence([toBeSigned, algorithm, element(bitString, [0] + Array(signature.derRepresentation))])
    }

    /// Encodes the subject alternative names (RFC 5280 section 4.2.1.6).
    private static func alternativeNames(_ names: [String]) -> [UInt8] {
        let list = sequence(names.map { element(dnsName, Array($0.utf8)) })
        return sequence([subjectAlternativeName, element(octetString, list)])
    }

    /// The extended key usage for TLS servers (RFC 5280 section 4.2.1.12).
    private static let serverUsage = sequence([
        extendedKeyUsage, element(octetString, sequence([serverAuthentication])),
    ])

    private static let integer: UInt8 = 0x02
    private static let bitString: UInt8 = 0x03
    private static let utf8String: UInt8 = 0x0C
    private static let utcTime: UInt8 = 0x17
    private static let generalizedTime: UInt8 = 0x18
    private static let set: UInt8 = 0x31
    private static let explicitVersion: UInt8 = 0xA0
    private static let explicitExtensions: UInt8 = 0xA3
    private static let octetString: UInt8 = 0x04
    private static let dnsName: UInt8 = 0x82

    /// The object identifier 1.2.840.10045.4.3.2, with its tag and length.
    private static let ecdsaWithSHA256: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
    /// The object identifier 2.5.4.3, with its tag and length.
    private static let commonName: [UInt8] = [0x06, 3, 0x55, 4, 3]
    /// The object identifiers 2.5.29.17 and 2.5.29.37, with tag and length.
    private static let subjectAlternativeName: [UInt8] = [0x06, 3, 0x55, 0x1D, 0x11]
    private static let extendedKeyUsage: [UInt8] = [0x06, 3, 0x55, 0x1D, 0x25]
    /// The object identifier 1.3.6.1.5.5.7.3.1, with its tag and length.
    private static let serverAuthentication: [UInt8] = [0x06, 8, 0x2B, 6, 1, 5, 5, 7, 3, 1]

    /// From 1970 to the date that means no expiry (RFC 5280 section 4.1.2.5). The plug has no clock to check a date.
    private static let validity = sequence([
        element(utcTime, Array("700101000000Z".utf8)), element(generalizedTime, Array("99991231235959Z".utf8)),
    ])

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { element(0x30, Array(parts.joined())) }

    /// Encodes a DER element.
    ///
    /// - Parameter content: at most 65,535 bytes.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            case _: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return [tag] + length + content
    }
}
