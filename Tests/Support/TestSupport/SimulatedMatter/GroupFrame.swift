import Crypto
public import MatterSessions
public import MatterWire

/// A message to a group, as a node with the group's key sends it (Matter 4.16).
public struct GroupFrame: Sendable {
    /// The session id, which is derived from the key.
    public var sessionID: UInt16
    /// The message counter of the sender.
    public var counter: UInt32
    /// The node id that the sender names.
    public var node: UInt64
    public var group: UInt16
    public var isControl = false
    /// The header and payload that the key encrypts.
    public var plain: [UInt8]
    private let key: SymmetricKey

    /// Creates a message of the interaction model.
    ///
    /// - Parameter operationalKey: 16 bytes.
    public init(
        _ message: InteractionMessage, operationalKey: [UInt8], counter: UInt32, node: UInt64, group: UInt16
    ) {
        key = SymmetricKey(data: operationalKey)
        sessionID = Self.derive(key, "GroupKeyHash", 2).reduce(0) { $0 << 8 | UInt16($1) }
        (self.counter, self.node, self.group) = (counter, node, group)
        let header = ProtocolHeader(
            isInitiator: true, needsAcknowledgement: false, opcode: message.opcode, exchange: 7,
            protocolID: MatterProtocol.interactionModel)
        plain = header.encoded + message.encoded
    }

    /// Returns the datagram.
    ///
    /// - Parameter hasPrivacy: true to obfuscate the header (Matter 4.9).
    public func sealed(_ cryptography: any MatterCryptography, hasPrivacy: Bool = false) throws -> [UInt8] {
        let header = MessageHeader(
            sessionID: sessionID, counter: counter, source: node, destination: .group(group), isGroupSession: true,
            isControl: isControl, hasPrivacy: hasPrivacy)
        let bytes = header.encoded
        let nonce = [header.securityFlags] + Self.littleEndian(counter) + Self.littleEndian(node)
        let sealed = try cryptography.seal(
            plain, key: key.withUnsafeBytes { Array($0) }, nonce: nonce, authenticating: bytes)
        guard hasPrivacy else { return bytes + sealed }
        let privacyNonce = [UInt8(sessionID >> 8), UInt8(sessionID & 0xFF)] + sealed.suffix(11)
        let hidden = try cryptography.seal(
            Array(bytes.dropFirst(4)), key: Self.derive(key, "PrivacyKey", 16), nonce: privacyNonce,
            authenticating: [])
        return bytes.prefix(4) + hidden.prefix(bytes.count - 4) + sealed
    }

    private static func derive(_ key: SymmetricKey, _ info: String, _ count: Int) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: [UInt8](), info: Array(info.utf8), outputByteCount: count
        ).withUnsafeBytes { Array($0) }
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<(Number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
