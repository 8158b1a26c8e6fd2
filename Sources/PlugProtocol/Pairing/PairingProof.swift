internal import Crypto
public import PlugModel

/// The data that both sides of a pairing must agree on: T of the protocol.
///
/// T is the concatenation of `smartplug-pair-1`, the protocol version as four big-endian bytes, the plug's id, the
/// plug's key, the controller's key, the plug's nonce and the controller's nonce. Each item is preceded by its length
/// as four big-endian bytes. K = HKDF-SHA256 (RFC 5869) of the setup code's ten bytes with salt SHA-256(T), no info, 32
/// bytes. The proofs are HMAC-SHA256(K, "controller") and HMAC-SHA256(K, "plug").
///
/// The keys must be those that TLS verified, never keys from a message. A man in the middle shows different keys to the
/// two sides, so both proofs fail.
public struct PairingTranscript: Hashable, Sendable {
    /// The length of a nonce in bytes. Each nonce is drawn for one connection.
    public static let nonceLength = 32
    private static let label = "smartplug-pair-1"

    /// The protocol version.
    public var version: UInt32
    /// The id of the plug.
    public var plug: PlugID
    /// The plug's key.
    public var plugKey: PublicKey
    /// The controller's key.
    public var controllerKey: PublicKey
    /// The plug's nonce, ``nonceLength`` bytes.
    public var plugNonce: [UInt8]
    /// The controller's nonce, ``nonceLength`` bytes.
    public var controllerNonce: [UInt8]

    /// Creates a transcript from the values of one connection.
    public init(
        version: UInt32, plug: PlugID, plugKey: PublicKey, controllerKey: PublicKey, plugNonce: [UInt8],
        controllerNonce: [UInt8]
    ) {
        self.version = version
        self.plug = plug
        self.plugKey = plugKey
        self.controllerKey = controllerKey
        self.plugNonce = plugNonce
        self.controllerNonce = controllerNonce
    }

    var bytes: [UInt8] {
        let items: [[UInt8]] = [
            Array(Self.label.utf8), Self.bigEndian(version), Array(plug.rawValue.utf8), plugKey.bytes,
            controllerKey.bytes, plugNonce, controllerNonce,
        ]
        return items.flatMap { Self.bigEndian(UInt32($0.count)) + $0 }
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    /// The side that proves its knowledge of the code.
    enum Side: String {
        case controller, plug
    }

    func proof(of side: Side, code: SetupCode) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(side.rawValue.utf8), using: key(code)))
    }

    /// Checks a proof in constant time.
    func isProof(_ proof: [UInt8], of side: Side, code: SetupCode) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: Array(side.rawValue.utf8), using: key(code))
    }

    private func key(_ code: SetupCode) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: code.bytes), salt: Array(SHA256.hash(data: bytes)),
            outputByteCount: 32)
    }
}
