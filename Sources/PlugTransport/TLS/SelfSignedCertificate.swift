import Crypto

/// The one certificate this project makes (RFC 5280 section 4.1, in DER): TLS wants the public key in one. It is small enough
/// to be written down; a library for it would be a fifth of the firmware.
enum SelfSignedCertificate {
    static func der(for key: P256.Signing.PrivateKey) -> [UInt8] {
        // A serial number is positive and has no superfluous zeros: 0x40 ... 0x7F in front sees to both.
        let serial = [.random(in: 0x40...0x7F)] + (0..<15).map { _ in UInt8.random(in: .min ... .max) }
        let algorithm = sequence([ecdsaWithSHA256])
        let name = sequence([element(set, sequence([commonName, element(utf8String, Array("smartplug".utf8))]))])
        let toBeSigned = sequence([
            element(explicitVersion, element(integer, [2])),  // the third version
            element(integer, serial), algorithm, name, validity, name,
            Array(key.publicKey.derRepresentation),
        ])
        guard let signature = try? key.signature(for: toBeSigned) else {
            preconditionFailure("a P-256 key signs everything")
        }
        // A bit string says first how many bits of its last byte are unused.
        return sequence([toBeSigned, algorithm, element(bitString, [0] + Array(signature.derRepresentation))])
    }

    private static let integer: UInt8 = 0x02
    private static let bitString: UInt8 = 0x03
    private static let utf8String: UInt8 = 0x0C
    private static let utcTime: UInt8 = 0x17
    private static let generalizedTime: UInt8 = 0x18
    private static let set: UInt8 = 0x31
    private static let explicitVersion: UInt8 = 0xA0

    /// 1.2.840.10045.4.3.2, with its tag and length.
    private static let ecdsaWithSHA256: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
    /// 2.5.4.3, with its tag and length.
    private static let commonName: [UInt8] = [0x06, 3, 0x55, 4, 3]

    /// From 1970 to the date that means no end (RFC 5280 section 4.1.2.5): the plug has no clock to hold against a date.
    private static let validity = sequence([
        element(utcTime, Array("700101000000Z".utf8)), element(generalizedTime, Array("99991231235959Z".utf8)),
    ])

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { element(0x30, Array(parts.joined())) }

    /// - Parameter content: shorter than 65,536 bytes.
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
