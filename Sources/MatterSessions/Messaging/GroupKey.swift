internal import MatterWire

/// A key with which the nodes of a fabric encrypt messages to groups (Matter 4.17).
public struct GroupKey: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a header that privacy does not obfuscate: the flags and the session id.
    private static let openHeader = 4
    /// The number of bytes at the end of a message that are part of the nonce for privacy (Matter 4.9.2).
    private static let nonceBytes = CryptographyLengths.nonce - 2

    /// The index of the fabric.
    public let fabric: UInt8
    /// The groups of this node that use the key.
    public let groups: Set<UInt16>
    /// The session id of messages with this key.
    let sessionID: UInt16
    private let key: [UInt8]
    private let privacyKey: [UInt8]

    /// Derives the session id and the key of headers.
    ///
    /// - Parameter operationalKey: 16 bytes, from ``FabricIdentity/operationalKey(of:compressedID:)``.
    public init(fabric: UInt8, groups: Set<UInt16>, operationalKey: [UInt8]) {
        (self.fabric, self.groups, key) = (fabric, groups, operationalKey)
        sessionID = HandshakeCryptography.derive(operationalKey, salt: [], info: "GroupKeyHash", count: 2)
            .reduce(0) { $0 << 8 | UInt16($1) }
        privacyKey = HandshakeCryptography.derive(
            operationalKey, salt: [], info: "PrivacyKey", count: CryptographyLengths.key)
    }

    /// Omits the keys.
    public var description: String { "group key \(sessionID) of fabric \(fabric)" }

    /// Decrypts a message. Returns nil if this key did not encrypt it, or if this node is not in its group.
    func open(
        _ datagram: [UInt8], _ cryptography: any MatterCryptography
    ) -> (counter: UInt32, sender: GroupSender, plain: [UInt8])? {
        guard let readable = revealed(datagram, cryptography),
            let (header, headerBytes, sealed) = try? MessageHeader.decode(readable),
            case .group(let group) = header.destination, groups.contains(group), let node = header.source,
            let plain = try? cryptography.open(
                Array(sealed), key: key, nonce: header.nonce(node: node), authenticating: Array(headerBytes))
        else { return nil }
        return (header.counter, GroupSender(fabric: fabric, node: node, group: group), plain)
    }

    /// Returns the datagram with a readable header.
    private func revealed(_ datagram: [UInt8], _ cryptography: any MatterCryptography) -> [UInt8]? {
        // The positions of the fields depend only on the flags, which are not obfuscated.
        guard let (header, headerBytes, rest) = try? MessageHeader.decode(datagram) else { return nil }
        guard header.hasPrivacy else { return datagram }
        guard rest.count >= CryptographyLengths.tag else { return nil }
        let hidden = Array(headerBytes.dropFirst(Self.openHeader))
        let nonce =
            [UInt8(sessionID >> 8), UInt8(truncatingIfNeeded: sessionID)] + datagram.suffix(Self.nonceBytes)
        // AES-CCM encrypts with AES-CTR, which is its own inverse.
        guard let fields = try? cryptography.seal(hidden, key: privacyKey, nonce: nonce, authenticating: []) else {
            return nil
        }
        return Array(headerBytes.prefix(Self.openHeader) + fields.prefix(hidden.count) + rest)
    }
}
