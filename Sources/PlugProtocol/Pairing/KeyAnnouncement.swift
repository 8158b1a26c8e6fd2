internal import Crypto
public import PlugModel

/// The statement that a controller signs to announce its next key: T of AnnounceKey.
///
/// T is the concatenation of `smartplug-key-1`, the plug's id, the controller's current key, its next key and the nonce
/// of the session's Welcome. Each item is preceded by its length as four big-endian bytes. The signature is ECDSA over
/// P-256 with SHA-256, in DER.
///
/// The current key must be the one that TLS verified. This keeps a plug from forwarding an announcement to another
/// plug, where the id, the nonce and the session's key differ.
public struct KeyAnnouncement: Hashable, Sendable {
    private static let label = "smartplug-key-1"

    /// The plug that receives the announcement.
    public var plug: PlugID
    /// The current key of the controller.
    public var key: PublicKey
    /// The announced key.
    public var nextKey: PublicKey
    /// The nonce of the session's Welcome, 32 bytes.
    public var nonce: [UInt8]

    /// Creates an announcement.
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

    /// Returns true if `signer` signed the announcement. Returns false if `signer` is not a P-256 key.
    func isSigned(_ signature: some Sequence<UInt8>, by signer: PublicKey) -> Bool {
        guard let key = try? P256.Signing.PublicKey(derRepresentation: signer.bytes),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: Array(signature))
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }
}
