import Crypto

extension NodeCommissioningTests {
    /// The public key that belongs to the attestation key of the fixture.
    static func attestationKey() throws -> P256.Signing.PublicKey {
        try P256.Signing.PrivateKey(rawRepresentation: NodeFixture.configuration().attestation.key).publicKey
    }

    static func isValid(_ signature: [UInt8], of message: [UInt8], by key: P256.Signing.PublicKey) throws -> Bool {
        key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: message)
    }
}
