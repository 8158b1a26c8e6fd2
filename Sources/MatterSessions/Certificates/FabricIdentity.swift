/// Values that are derived from a fabric's root key, id and epoch keys.
public enum FabricIdentity {
    /// The compressed fabric id, 8 bytes, which names the node in DNS-SD (Matter 4.3.2.2).
    ///
    /// - Parameter rootPublicKey: the public key of the root certificate, 65 bytes.
    public static func compressedID(rootPublicKey: [UInt8], fabricID: UInt64) -> [UInt8] {
        // The key is hashed without its first byte, which marks it as uncompressed.
        HandshakeCryptography.derive(
            Array(rootPublicKey.dropFirst()), salt: littleEndian(fabricID).reversed(), info: "CompressedFabric",
            count: 8)
    }

    /// The operational key of an epoch key, 16 bytes (Matter 4.17.2).
    public static func operationalKey(of epochKey: [UInt8], compressedID: [UInt8]) -> [UInt8] {
        HandshakeCryptography.derive(
            epochKey, salt: compressedID, info: "GroupKey v1.0", count: CryptographyLengths.key)
    }

    /// The destination in Sigma1, 32 bytes, which hides the fabric and the node from observers (Matter 4.14.2.4.1).
    ///
    /// - Parameters:
    ///   - random: the random bytes of Sigma1.
    ///   - protectionKey: an operational identity protection key.
    public static func destinationID(
        random: [UInt8], rootPublicKey: [UInt8], fabricID: UInt64, nodeID: UInt64, protectionKey: [UInt8]
    ) -> [UInt8] {
        HandshakeCryptography.authenticate(
            random + rootPublicKey + littleEndian(fabricID) + littleEndian(nodeID), key: protectionKey)
    }

    /// The multicast address of a group, 16 bytes (Matter 2.5.6.2). It contains the fabric id, so that the groups of
    /// different homes have different addresses.
    public static func multicastAddress(group: UInt16, fabricID: UInt64) -> [UInt8] {
        [0xFF, 0x35, 0x00, 0x40, 0xFD] + littleEndian(fabricID).reversed()
            + [0x00, UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
    }

    private static func littleEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}
