internal import Crypto
public import PlugModel

/// What a controller signs to announce its next key: T of AnnounceKey.
///
/// T is the concatenation of `smartplug-key-1`, the plug's id, the controller's current key, its next key and the plug's nonce of
/// the session, each behind its length as four big-endian bytes. The signature is ECDSA over P-256 with SHA-256, in DER.
///
/// The current key must be the one that TLS verified. Then a plug that receives an announcement cannot pass it on to another plug:
/// neither the id nor the nonce nor the key of the session fits there.
public struct KeyAnnouncement: Hashable, Sendable {
    private static let label = "smartplug-key-1"

    public var plug: PlugID
    public var key: PublicKey
    public var nextKey: PublicKey
    public var nonce: [UInt8]

    public init(plug: PlugID, key: PublicKey, nextKey: PublicKey, nonce: [UInt8]) {
        (self.plug, self.key, self.nextKey, self.nonce) = (plug, key, nextKey, nonce)
    }

    /// The bytes to sign.
    public var bytes: [UInt8] {
        let items: [[UInt8]] = [
            Array(Self.label.utf8), Array(plug.rawValue.utf8), key.bytes, nextKey.bytes, nonce,
        ]
        return items.flatMap { PairingTranscript.bigEndian(UInt32($0.count)) + $0 }
    }

    /// Whether the holder of this P-256 key has signed the announcement. False for a key of another kind.
    func isSigned(_ signature: some Sequence<UInt8>, by signer: PublicKey) -> Bool {
        guard let key = try? P256.Signing.PublicKey(derRepresentation: signer.bytes),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: Array(signature))
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}
