/// The key of a plug or a controller, as its certificate's SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7) in DER. It is what
/// both sides pin; nothing else in a certificate counts.
public struct PublicKey: Hashable, Sendable {
    /// P-256 takes 91 bytes, Ed25519 44. Stops a peer from making us store a huge key.
    public static let longest = 512

    public let bytes: [UInt8]

    /// Nil for none, and for more than ``longest`` bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard (1...Self.longest).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}
