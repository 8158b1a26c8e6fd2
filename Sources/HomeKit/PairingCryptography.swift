internal import Crypto

/// Functions of the cryptography library that pairing and sessions use, with bytes as parameters.
enum PairingCryptography {
    static let keyLength = 32
    static let tagLength = 16

    /// Derives 32 bytes with HKDF and SHA-512 (HAP 5.6.5).
    static func derive(_ secret: [UInt8], salt: String, info: String) -> [UInt8] {
        let key = HKDF<SHA512>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), salt: Array(salt.utf8), info: Array(info.utf8),
            outputByteCount: keyLength)
        return key.withUnsafeBytes { Array($0) }
    }

    /// Encrypts with ChaCha20-Poly1305 and a nonce of four zeros and 8 bytes. Returns the ciphertext and the tag, or
    /// nil if the key or the nonce has an invalid length.
    static func seal(_ bytes: some Collection<UInt8>, key: [UInt8], nonce: [UInt8], data: [UInt8] = []) -> [UInt8]? {
        guard let full = try? ChaChaPoly.Nonce(data: [0, 0, 0, 0] + nonce),
            let box = try? ChaChaPoly.seal(
                Array(bytes), using: SymmetricKey(data: key), nonce: full, authenticating: data)
        else { return nil }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// Decrypts bytes. Returns nil if they were not sealed with this key.
    static func open(_ bytes: some Collection<UInt8>, key: [UInt8], nonce: [UInt8], data: [UInt8] = []) -> [UInt8]? {
        guard bytes.count >= tagLength, let full = try? ChaChaPoly.Nonce(data: [0, 0, 0, 0] + nonce),
            let box = try? ChaChaPoly.SealedBox(
                nonce: full, ciphertext: Array(bytes.dropLast(tagLength)), tag: Array(bytes.suffix(tagLength))),
            let opened = try? ChaChaPoly.open(box, using: SymmetricKey(data: key), authenticating: data)
        else { return nil }
        return Array(opened)
    }

    /// Verifies an Ed25519 signature. Returns false if the key is not valid.
    static func isSigned(_ message: [UInt8], by key: [UInt8], _ signature: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: message)
    }

    static func sign(_ message: [UInt8], with key: [UInt8]) -> [UInt8]? {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: key),
            let signature = try? key.signature(for: message)
        else { return nil }
        return Array(signature)
    }

    static func verifyingKey(of key: [UInt8]) -> [UInt8]? {
        (try? Curve25519.Signing.PrivateKey(rawRepresentation: key)).map { Array($0.publicKey.rawRepresentation) }
    }

    /// Returns the public key and the shared secret, or nil if the other key is not valid (RFC 7748, 6.1).
    static func agree(_ key: [UInt8], with other: [UInt8]) -> (publicKey: [UInt8], secret: [UInt8])? {
        guard let own = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: key),
            let peer = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: peer)
        else { return nil }
        let bytes = secret.withUnsafeBytes { Array($0) }
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        return (Array(own.publicKey.rawRepresentation), bytes)
    }

    static func sha512(_ parts: [UInt8]...) -> [UInt8] {
        var hash = SHA512()
        for part in parts { hash.update(data: part) }
        return Array(hash.finalize())
    }

    /// Compares bytes in constant time.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
