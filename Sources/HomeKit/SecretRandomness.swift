internal import Crypto

/// Derives secrets from one seed that the shell drew from the system. The machine does not use the system's random
/// generator, so that a run with the same seed has the same result. Earlier secrets cannot be derived from the state.
struct SecretRandomness: Sendable {
    static let seedLength = 32
    private var state: [UInt8]

    init(seed: [UInt8]) {
        precondition(seed.count >= Self.seedLength, "a seed has at least \(Self.seedLength) bytes")
        state = PairingCryptography.sha512(Array("HomeKit seed".utf8), seed)
    }

    /// Returns the next secret bytes.
    ///
    /// - Parameter count: the number of bytes, at most 64.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let key = SymmetricKey(data: state)
        let drawn = Array(HMAC<SHA512>.authenticationCode(for: Array("bytes".utf8), using: key))
        state = Array(HMAC<SHA512>.authenticationCode(for: Array("next".utf8), using: key))
        return Array(drawn.prefix(count))
    }
}
