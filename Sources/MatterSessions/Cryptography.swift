public import Crypto
public import MatterWire

/// The cryptographic operations that Matter needs in addition to those of swift-crypto: AES-CCM, PBKDF2, and the
/// arithmetic of P-256 for SPAKE2+ (Matter 3.6, 3.9, 3.10).
public protocol MatterCryptography: Sendable {
    /// Encrypts with AES-128-CCM. Returns the ciphertext and the tag of ``CryptographyLengths/tag`` bytes.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - nonce: 13 bytes that must be unique for the key.
    ///   - data: authenticated but not encrypted.
    func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8]

    /// Decrypts with AES-128-CCM. Throws if the bytes were not sealed with this key, nonce and data.
    func open(
        _ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8]

    /// Derives `count` bytes with PBKDF2 and HMAC-SHA256.
    func stretch(_ secret: [UInt8], salt: [UInt8], iterations: Int, count: Int) throws(MatterError) -> [UInt8]

    /// Returns a number modulo the order of P-256, as 32 bytes, big-endian. The number has at most 64 bytes.
    func reduce(_ number: [UInt8]) throws(MatterError) -> [UInt8]

    /// Multiplies a point of P-256 by a secret scalar.
    ///
    /// - Parameters:
    ///   - point: 65 bytes, uncompressed; nil for the generator. Throws if the point is not on the curve.
    ///   - scalar: 32 bytes, big-endian. Throws if the result is the point at infinity.
    func multiply(_ point: [UInt8]?, by scalar: [UInt8]) throws(MatterError) -> [UInt8]

    /// Adds two points of P-256. Throws if a point is not on the curve or the sum is the point at infinity.
    func add(_ left: [UInt8], _ right: [UInt8]) throws(MatterError) -> [UInt8]

    /// Subtracts a point of P-256 from another one. Throws if a point is not on the curve or the difference is the
    /// point at infinity.
    func subtract(_ left: [UInt8], _ right: [UInt8]) throws(MatterError) -> [UInt8]
}

/// The lengths of keys and values in bytes (Matter 3.5 to 3.9).
public enum CryptographyLengths {
    public static let key = 16
    public static let nonce = 13
    public static let tag = 16
    public static let hash = 32
    public static let scalar = 32
    public static let point = 65
    public static let signature = 64
}

/// Derives secrets from one seed that the shell drew from the system. The state machines do not use the system's random
/// generator, so that a run with the same seed makes the same decisions. Earlier secrets cannot be derived from the
/// state.
///
/// ECDSA signatures are an exception: swift-crypto mixes its own randomness into them.
public struct MatterRandomness: Sendable, CustomStringConvertible {
    /// The minimum length of a seed in bytes.
    public static let seedLength = 32
    private var state: SymmetricKey

    /// Creates a generator.
    ///
    /// - Parameter seed: at least ``seedLength`` bytes.
    public init(seed: [UInt8]) {
        precondition(seed.count >= Self.seedLength, "a seed has at least \(Self.seedLength) bytes")
        state = SymmetricKey(
            data: HMAC<SHA512>.authenticationCode(for: Array("Matter seed".utf8), using: SymmetricKey(data: seed)))
    }

    /// Returns the next secret bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        var drawn: [UInt8] = []
        while drawn.count < count {
            drawn += HMAC<SHA512>.authenticationCode(for: Array("bytes".utf8), using: state)
            state = SymmetricKey(data: HMAC<SHA512>.authenticationCode(for: Array("next".utf8), using: state))
        }
        return Array(drawn.prefix(max(0, count)))
    }

    /// Returns a number that is uniform over all values of the type.
    public mutating func integer<N: FixedWidthInteger>(_ type: N.Type = N.self) -> N {
        bytes(N.bitWidth / 8).reduce(0) { $0 << 8 | N(truncatingIfNeeded: $1) }
    }

    /// Returns a new key for signatures.
    public mutating func signingKey() -> P256.Signing.PrivateKey {
        while true {
            // A draw is not a valid key with a probability of 2^-32.
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes(CryptographyLengths.scalar)) {
                return key
            }
        }
    }

    /// Returns a new key for a key agreement.
    public mutating func agreementKey() -> P256.KeyAgreement.PrivateKey {
        while true {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(CryptographyLengths.scalar)) {
                return key
            }
        }
    }

    /// Returns a generator with its own seed, which is derived from this generator.
    public mutating func split() -> MatterRandomness { MatterRandomness(seed: bytes(Self.seedLength)) }

    public var description: String { "MatterRandomness" }
}
