import Crypto
public import Matter
import MatterCryptography
public import MatterSessions
import MatterWire

/// The factory settings of a simulated plug: the passcode, the attestation credentials, and the device's description.
public struct MatterSetup: Sendable {
    /// The passcode on the label.
    public static let passcode: UInt32 = 20_202_021
    /// The discriminator on the label.
    public static let discriminator: UInt16 = 3840
    /// The iterations of PBKDF2: the smallest number that Matter allows, so that simulations are fast.
    private static let iterations: UInt32 = 1000

    /// The configuration of the machine.
    public var configuration: MatterDevice.Configuration
    /// The cryptographic library of the plug and the controllers.
    public let cryptography: any MatterCryptography

    /// Creates the settings. Throws if libcrypto is missing.
    public init(seed: UInt64) throws {
        let cryptography = try OpenSSLCryptography()
        self.cryptography = cryptography
        var randomness = MatterRandomness(seed: MatterController.bytes(of: seed, for: "factory"))
        let verifier = try SpakeVerifier(
            passcode: Self.passcode, salt: randomness.bytes(16), iterations: Self.iterations, cryptography)
        let key = randomness.signingKey()
        let authority = randomness.signingKey()
        let attestation = AttestationCredentials(
            dac: try Self.certificate(of: key, by: authority), pai: try Self.certificate(of: authority, by: authority),
            declaration: Array("the certification declaration".utf8), key: Array(key.rawRepresentation))
        configuration = MatterDevice.Configuration(
            verifier: verifier, discriminator: Self.discriminator, vendorName: "Smart Plug", productName: "Lamp",
            serialNumber: "42", firmware: "1.0", features: NodeFeatures(dims: false, meters: false, hasButton: true),
            attestation: attestation, uniqueID: "0123456789ABCDEF", hardwareAddress: [2, 0, 0, 0, 0, 1],
            interfaceName: "eth0")
    }

    /// Returns a signed structure in DER with the public key in X.509's form. It has no names and dates, which the
    /// simulated controller does not read.
    private static func certificate(
        of key: P256.Signing.PrivateKey, by authority: P256.Signing.PrivateKey
    ) throws -> [UInt8] {
        let curve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let algorithm: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let ecdsa: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        let identifier = DERParts.encode(0x30, DERParts.encode(0x06, algorithm) + DERParts.encode(0x06, curve))
        let point = DERParts.encode(0x03, [0] + Array(key.publicKey.x963Representation))
        let content = DERParts.encode(0x30, DERParts.encode(0x30, identifier + point))
        let signature = try authority.signature(for: content).derRepresentation
        return DERParts.encode(
            0x30,
            content + DERParts.encode(0x30, DERParts.encode(0x06, ecdsa))
                + DERParts.encode(0x03, [0] + Array(signature)))
    }
}
