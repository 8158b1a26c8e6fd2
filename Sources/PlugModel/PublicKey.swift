/// The public key of a plug or a controller: its certificate's SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7) in DER.
/// Both sides pin it and ignore everything else in a certificate.
public struct PublicKey: Hashable, Sendable {
    /// The maximum length in bytes. A P-256 key has 91 bytes, an Ed25519 key 44. The limit keeps a peer from making the
    /// receiver store a huge key.
    public static let longest = 512

    /// The SubjectPublicKeyInfo in DER.
    public let bytes: [UInt8]

    /// Returns nil for an empty sequence and for more than ``longest`` bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard (1...Self.longest).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}
