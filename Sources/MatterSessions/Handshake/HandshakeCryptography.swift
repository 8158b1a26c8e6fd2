internal import Crypto
internal import MatterWire

/// Functions of the cryptography library that handshakes and certificates use, with bytes as parameters.
enum HandshakeCryptography {
    /// Derives bytes with HKDF and SHA-256 (Matter 3.8).
    static func derive(_ secret: [UInt8], salt: [UInt8], info: String, count: Int) -> [UInt8] {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), salt: salt, info: Array(info.utf8), outputByteCount: count)
        return key.withUnsafeBytes { Array($0) }
    }

    /// The SHA-256 hash of the parts, one after the other.
    static func hash(_ parts: [UInt8]...) -> [UInt8] {
        var hash = SHA256()
        for part in parts { hash.update(data: part) }
        return Array(hash.finalize())
    }

    /// The HMAC-SHA256 of a message.
    static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    }

    /// Compares in a time that does not depend on the contents.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Signs a message with ECDSA and SHA-256. Returns 64 bytes.
    ///
    /// - Parameter key: the private key, 32 bytes.
    static func sign(_ message: [UInt8], with key: [UInt8]) throws(MatterError) -> [UInt8] {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: key),
            let signature = try? key.signature(for: message)
        else { throw .cryptography("ECDSA: the private key is not valid") }
        return Array(signature.rawRepresentation)
    }

    /// Verifies a signature of 64 bytes. Returns false if the public key (65 bytes) is not valid.
    static func isSigned(_ message: [UInt8], by key: [UInt8], _ signature: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }

    /// The public key (65 bytes) of a private key, or nil if the private key is not valid.
    static func publicKey(of key: [UInt8]) -> [UInt8]? {
        (try? P256.Signing.PrivateKey(rawRepresentation: key)).map { Array($0.publicKey.x963Representation) }
    }

    /// True if the 65 bytes are a point of P-256.
    static func isPoint(_ bytes: [UInt8]) -> Bool {
        bytes.count == CryptographyLengths.point && (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil
    }

    /// True if the 32 bytes are a number from 1 to the order of P-256, excluded.
    static func isScalar(_ bytes: [UInt8]) -> Bool {
        bytes.count == CryptographyLengths.scalar && (try? P256.Signing.PrivateKey(rawRepresentation: bytes)) != nil
    }

    /// Computes the shared secret of a key agreement.
    ///
    /// - Throws: if the peer's public key is not a point of P-256.
    static func agree(_ key: P256.KeyAgreement.PrivateKey, with other: [UInt8]) throws(MatterError) -> [UInt8] {
        guard let peer = try? P256.KeyAgreement.PublicKey(x963Representation: other),
            let secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        else { throw .invalid("CASE: the ephemeral public key is not a point of P-256") }
        return secret.withUnsafeBytes { Array($0) }
    }
}
