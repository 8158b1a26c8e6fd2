internal import MatterWire

/// SPAKE2+ over P-256 with SHA-256, HKDF and HMAC (Matter 3.10, RFC 9383). Its key schedule is that of an earlier draft
/// of the RFC: the hash of the transcript is split into Ka and Ke.
enum Spake2Plus {
    /// The point M of RFC 9383, section 4, uncompressed.
    static let m = hex(
        """
        04886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f\
        5ff355163e43ce224e0b0e65ff02ac8e5c7be09419c785e0ca547d55a12e2d20
        """)
    /// The point N of RFC 9383, section 4, uncompressed.
    static let n = hex(
        """
        04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49\
        07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7
        """)
    /// The bytes of PBKDF2 for each of w0 and w1, before the reduction (CRYPTO_W_SIZE_BYTES).
    private static let stretchedLength = 40

    /// Computes w0 and w1 from a passcode.
    static func secrets(
        passcode: UInt32, salt: [UInt8], iterations: UInt32, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> (w0: [UInt8], w1: [UInt8]) {
        let code = (0..<4).map { UInt8(truncatingIfNeeded: passcode >> (8 * UInt32($0))) }
        let stretched = try cryptography.stretch(
            code, salt: salt, iterations: Int(iterations), count: 2 * stretchedLength)
        return (
            try cryptography.reduce(Array(stretched.prefix(stretchedLength))),
            try cryptography.reduce(Array(stretched.suffix(stretchedLength)))
        )
    }

    /// A random number from 1 to the group's order, excluded.
    static func scalar(
        _ randomness: inout MatterRandomness, _ cryptography: any MatterCryptography
    ) throws(MatterError) -> [UInt8] {
        try cryptography.reduce(randomness.bytes(stretchedLength))
    }

    /// The share of a side: scalar * P + w0 * point. The prover's point is M, the verifier's is N.
    static func share(
        scalar: [UInt8], w0: [UInt8], point: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> [UInt8] {
        try cryptography.add(cryptography.multiply(nil, by: scalar), cryptography.multiply(point, by: w0))
    }

    /// Z and V of the prover, from the verifier's share.
    static func proverSecrets(
        scalar: [UInt8], w0: [UInt8], w1: [UInt8], share: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> (z: [UInt8], v: [UInt8]) {
        let base = try cryptography.subtract(share, cryptography.multiply(n, by: w0))
        return (try cryptography.multiply(base, by: scalar), try cryptography.multiply(base, by: w1))
    }

    /// Z and V of the verifier, from the prover's share.
    static func verifierSecrets(
        scalar: [UInt8], w0: [UInt8], l: [UInt8], share: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> (z: [UInt8], v: [UInt8]) {
        let base = try cryptography.subtract(share, cryptography.multiply(m, by: w0))
        return (try cryptography.multiply(base, by: scalar), try cryptography.multiply(l, by: scalar))
    }

    /// The values that both sides put into the transcript TT.
    struct Transcript: Sendable {
        var context: [UInt8]
        var prover: [UInt8] = []
        var verifier: [UInt8] = []
        /// The prover's share, pA in Matter.
        var proverShare: [UInt8]
        /// The verifier's share, pB in Matter.
        var verifierShare: [UInt8]
        var z: [UInt8]
        var v: [UInt8]
        var w0: [UInt8]

        /// The hash of the transcript. Each value follows its length, 8 bytes little-endian.
        var hash: [UInt8] {
            var bytes: [UInt8] = []
            for value in [context, prover, verifier, m, n, proverShare, verifierShare, z, v, w0] {
                bytes += (0..<8).map { UInt8(truncatingIfNeeded: value.count >> (8 * $0)) }
                bytes += value
            }
            return HandshakeCryptography.hash(bytes)
        }
    }

    /// The keys of a transcript (Matter 3.10.1).
    struct Keys: Sendable {
        /// cA, which proves that the prover has the same keys.
        let proverConfirmation: [UInt8]
        /// cB, which proves that the verifier has the same keys.
        let verifierConfirmation: [UInt8]
        /// Ke, from which the session keys are derived.
        let shared: [UInt8]

        init(_ transcript: Transcript) {
            let hash = transcript.hash
            shared = Array(hash.suffix(CryptographyLengths.key))
            let keys = HandshakeCryptography.derive(
                Array(hash.prefix(CryptographyLengths.key)), salt: [], info: "ConfirmationKeys",
                count: 2 * CryptographyLengths.key)
            proverConfirmation = HandshakeCryptography.authenticate(
                transcript.verifierShare, key: Array(keys.prefix(CryptographyLengths.key)))
            verifierConfirmation = HandshakeCryptography.authenticate(
                transcript.proverShare, key: Array(keys.suffix(CryptographyLengths.key)))
        }
    }

    private static func hex(_ text: String) -> [UInt8] {
        let values = text.utf8.map { $0 < 0x61 ? $0 - 0x30 : $0 - 0x61 + 10 }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
