/// SRP-6a for pair-setup (HAP 5.5): the 3,072-bit group of RFC 5054 and SHA-512.
///
/// HAP does not define how many leading zeros of S, A and B are hashed. Apple's controllers remove the zeros, and
/// aiohomekit pads the numbers to the length of the modulus. An accessory accepts both forms (``Hashing``).
public enum SecureRemotePassword {
    /// The length of the modulus, and so of public keys, in bytes.
    public static let length = 384
    /// The length of a salt in bytes.
    public static let saltLength = 16
    /// The user name in pair-setup.
    public static let userName = "Pair-Setup"
    static let generator: UInt8 = 5

    /// The form in which a controller hashes S, A and B. The forms differ only if one of the numbers begins with a zero
    /// byte.
    public enum Hashing: CaseIterable, Sendable {
        /// Without leading zeros, as Apple's controllers do.
        case stripped
        /// Padded to the length of the modulus, as aiohomekit does.
        case padded

        func bytes(of number: [UInt8]) -> [UInt8] {
            switch self {
            case .stripped: Array(number.drop { $0 == 0 })
            case .padded: SecureRemotePassword.padded(number)
            }
        }
    }

    /// The 3,072-bit group of RFC 5054, appendix A.
    public static let modulus: [UInt8] = {
        let digits = """
            FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD\
            EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
            EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F\
            83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B\
            E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510\
            15728E5A8AAAC42DAD33170D04507A33A85521ABDF1CBA64ECFB850458DBEF0A8AEA71575D060C7DB3970F85A6E1E4C7\
            ABF5AE8CDB0933D71E8C94E04A25619DCEE3D2261AD2EE6BF12FFA06D98A0864D87602733EC86A64521F2B18177B200C\
            BBE117577A615D6C770988C0BAD946E208E24FA074E5AB3143DB5BFCE0FD108E4B82D120A93AD2CAFFFFFFFFFFFFFFFF
            """
        let values = digits.utf8.map { $0 < 0x41 ? $0 - 0x30 : $0 - 0x41 + 10 }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }()

    /// k = H(N, g), both padded.
    public static let multiplier: [UInt8] = PairingCryptography.sha512(
        modulus, Array(repeating: 0, count: length - 1) + [generator])

    /// x = H(salt, H(user, ":", password)).
    public static func privateKey(salt: [UInt8], user: String, password: String) -> [UInt8] {
        PairingCryptography.sha512(salt, PairingCryptography.sha512(Array("\(user):\(password)".utf8)))
    }

    /// u = H(A, B), both padded.
    public static func scrambling(_ controllerKey: [UInt8], _ accessoryKey: [UInt8]) -> [UInt8] {
        PairingCryptography.sha512(padded(controllerKey), padded(accessoryKey))
    }

    /// K = H(S).
    public static func sessionKey(_ secret: [UInt8], _ hashing: Hashing = .stripped) -> [UInt8] {
        PairingCryptography.sha512(hashing.bytes(of: secret))
    }

    /// M1 = H(H(N) xor H(g), H(user), salt, A, B, K). H(g) hashes g as one byte.
    public static func controllerProof(
        user: String, salt: [UInt8], controllerKey: [UInt8], accessoryKey: [UInt8], sessionKey: [UInt8],
        _ hashing: Hashing = .stripped
    ) -> [UInt8] {
        let group = zip(PairingCryptography.sha512(modulus), PairingCryptography.sha512([generator])).map { $0 ^ $1 }
        return PairingCryptography.sha512(
            group, PairingCryptography.sha512(Array(user.utf8)), salt, hashing.bytes(of: controllerKey),
            hashing.bytes(of: accessoryKey), sessionKey)
    }

    /// M2 = H(A, M1, K). A is padded.
    public static func accessoryProof(
        controllerKey: [UInt8], controllerProof: [UInt8], sessionKey: [UInt8]
    ) -> [UInt8] {
        PairingCryptography.sha512(padded(controllerKey), controllerProof, sessionKey)
    }

    /// Pads a number to the full length. Longer numbers are unchanged.
    static func padded(_ number: [UInt8]) -> [UInt8] {
        Array(repeating: 0, count: max(0, length - number.count)) + number
    }

    /// The accessory side of one try.
    public struct Accessory: Sendable {
        private let verifier: SetupVerifier
        private let secret: [UInt8]
        /// B = k v + g^b.
        public let publicKey: [UInt8]

        /// Computes the public key of one try.
        ///
        /// - Parameter secret: b, 32 bytes that are not all zero.
        public init(
            _ verifier: SetupVerifier, secret: [UInt8], _ arithmetic: any ModularArithmetic
        ) throws(HomeKitError) {
            (self.verifier, self.secret) = (verifier, secret)
            let product = try arithmetic.multiply(multiplier, verifier.verifier, modulo: modulus)
            let power = try arithmetic.power([generator], secret, modulo: modulus, isSecret: true)
            publicKey = try arithmetic.add(product, power, modulo: modulus)
        }

        /// Returns S = (A v^u)^b. Returns nil if A is longer than the modulus. Also returns nil if A is a multiple of
        /// the modulus, because the secret would then not depend on the code (RFC 5054, 2.5.4).
        public func premasterSecret(
            _ controllerKey: [UInt8], _ arithmetic: any ModularArithmetic
        ) throws(HomeKitError) -> [UInt8]? {
            guard controllerKey.count <= length else { return nil }
            let reduced = try arithmetic.reduce(controllerKey, modulo: modulus)
            guard !arithmetic.isZero(reduced) else { return nil }
            let scrambling = scrambling(controllerKey, publicKey)
            let power = try arithmetic.power(verifier.verifier, scrambling, modulo: modulus, isSecret: false)
            let base = try arithmetic.multiply(reduced, power, modulo: modulus)
            return try arithmetic.power(base, secret, modulo: modulus, isSecret: true)
        }

        /// Returns the session key and the accessory's proof, both in the controller's form of hashing. Returns nil if
        /// the controller's key is not valid or its proof is for a different code.
        public func verify(
            _ controllerKey: [UInt8], proof: [UInt8], user: String = userName, _ arithmetic: any ModularArithmetic
        ) throws(HomeKitError) -> (sessionKey: [UInt8], proof: [UInt8])? {
            guard let premaster = try premasterSecret(controllerKey, arithmetic) else { return nil }
            for hashing in Hashing.allCases {
                let key = sessionKey(premaster, hashing)
                let expected = controllerProof(
                    user: user, salt: verifier.salt, controllerKey: controllerKey, accessoryKey: publicKey,
                    sessionKey: key, hashing)
                guard PairingCryptography.areEqual(expected, proof) else { continue }
                return (key, accessoryProof(controllerKey: controllerKey, controllerProof: proof, sessionKey: key))
            }
            return nil
        }

        var salt: [UInt8] { verifier.salt }
    }
}

/// The stored form of an accessory's setup code: salt and verifier v = g^x. An attacker who has this form can find the
/// code only by trying all codes.
public struct SetupVerifier: Hashable, Sendable {
    /// The salt, 16 bytes.
    public let salt: [UInt8]
    /// The verifier v, ``SecureRemotePassword/length`` bytes.
    public let verifier: [UInt8]

    /// Computes the verifier of a setup code.
    ///
    /// - Parameter salt: 16 random bytes.
    public init(
        _ code: HomeKitSetupCode, salt: [UInt8], _ arithmetic: any ModularArithmetic
    ) throws(HomeKitError) {
        try self.init(
            user: SecureRemotePassword.userName, password: code.description, salt: salt, arithmetic)
    }

    /// Computes the verifier of a user name and password. `salt` must have 16 bytes.
    public init(
        user: String, password: String, salt: [UInt8], _ arithmetic: any ModularArithmetic
    ) throws(HomeKitError) {
        precondition(salt.count == SecureRemotePassword.saltLength, "a salt has 16 bytes")
        self.salt = salt
        verifier = try arithmetic.power(
            [SecureRemotePassword.generator],
            SecureRemotePassword.privateKey(salt: salt, user: user, password: password),
            modulo: SecureRemotePassword.modulus, isSecret: true)
    }
}
