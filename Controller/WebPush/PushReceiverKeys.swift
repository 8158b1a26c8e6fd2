public import Crypto

/// The keys of a browser that receives messages: its P-256 key and its authentication secret (RFC 8291 §2).
public struct PushReceiverKeys: Hashable, Sendable {
    /// The maximum length of a message in bytes: a push service need not accept a body of more than 4096 bytes
    /// (RFC 8030 §7.2), of which the header has 86, the delimiter 1 and the tag 16.
    public static let longestMessage = recordSize - headerSize - 1 - tagSize

    private static let pointSize = 65
    private static let secretSize = 16
    private static let saltSize = 16
    private static let tagSize = 16
    private static let recordSize = 4096
    /// Salt, record size (4 bytes), length of the key (1 byte) and the key (RFC 8188 §2.1).
    private static let headerSize = saltSize + 4 + 1 + pointSize

    /// The uncompressed point of the browser's key.
    private let point: [UInt8]
    private let secret: [UInt8]

    /// Decodes the keys, as a browser reports them.
    ///
    /// - Parameters:
    ///   - p256dh: the uncompressed point of a P-256 key in base64url.
    ///   - auth: 16 bytes in base64url.
    /// - Returns: nil if a key is not valid, for example if the point is not on the curve.
    public init?(p256dh: String, auth: String) {
        guard let point = Base64URL.decode(p256dh, bytes: Self.pointSize),
            let secret = Base64URL.decode(auth, bytes: Self.secretSize),
            (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil
        else { return nil }
        self.point = point
        self.secret = secret
    }

    /// Encrypts a message with the content coding aes128gcm, in one record (RFC 8291 §3.4, RFC 8188 §2).
    ///
    /// - Parameters:
    ///   - message: at most ``longestMessage`` bytes.
    ///   - length: the length to which the message is padded, so that its length reveals nothing. A longer message is
    ///     not padded.
    ///   - salt: 16 random bytes, only for this message.
    ///   - sender: a random key, only for this message.
    /// - Returns: the body of the request; nil if the message is too long or the salt has a different length.
    public func encrypt(
        _ message: [UInt8], paddedTo length: Int = 0, salt: [UInt8], sender: P256.KeyAgreement.PrivateKey
    ) -> [UInt8]? {
        guard message.count <= Self.longestMessage, salt.count == Self.saltSize,
            let receiver = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let agreed = try? sender.sharedSecretFromKeyAgreement(with: receiver)
        else { return nil }
        let senderPoint = Array(sender.publicKey.x963Representation)
        let ikm = agreed.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: secret, sharedInfo: Array("WebPush: info\0".utf8) + point + senderPoint,
            outputByteCount: 32)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: ikm, salt: salt, info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: count)
        }
        // The delimiter 2 marks the last record; zeros after it are padding.
        let padding = max(0, min(length, Self.longestMessage) - message.count)
        let plaintext = message + [2] + [UInt8](repeating: 0, count: padding)
        // The nonce is combined with the number of the record, which is 0 for the first one (RFC 8188 §2.3).
        let start = derive("nonce", 12).withUnsafeBytes { Array($0) }
        guard let nonce = try? AES.GCM.Nonce(data: start),
            let sealed = try? AES.GCM.seal(plaintext, using: derive("aes128gcm", 16), nonce: nonce)
        else { return nil }
        let size = (0..<4).map { UInt8(truncatingIfNeeded: Self.recordSize >> (24 - 8 * $0)) }
        let header = salt + size + [UInt8(Self.pointSize)] + senderPoint
        return header + Array(sealed.ciphertext) + Array(sealed.tag)
    }
}

/// The keys are not printed.
extension PushReceiverKeys: CustomStringConvertible, CustomReflectable {
    public var description: String { "keys of a browser" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
