import Crypto
import MatterSessions
import MatterWire

/// A fabric with a root, an optional intermediate authority, and nodes.
struct FabricFixture {
    static let epochKey = HandshakeBytes.hex("4a71cdd7b2a3ca9024f96f3c96a19dee")

    let root: CertificateIssuer
    let intermediate: CertificateIssuer?
    let fabricID: UInt64
    private(set) var randomness: MatterRandomness

    init(seed: UInt8, fabricID: UInt64 = 0xFAB0_0000_0000_0001, hasIntermediate: Bool = false) throws {
        var randomness = HandshakeBytes.randomness(seed)
        root = try CertificateIssuer.root(id: 0xCACA, randomness: &randomness)
        intermediate =
            hasIntermediate
            ? try root.intermediate(id: 0xCACB, fabricID: fabricID, randomness: &randomness) : nil
        self.fabricID = fabricID
        self.randomness = randomness
    }

    var issuer: CertificateIssuer { intermediate ?? root }

    mutating func certificate(
        _ key: P256.Signing.PrivateKey, node: UInt64, fabricID: UInt64? = nil, tags: [UInt32] = []
    ) throws -> MatterCertificate {
        try issuer.operational(
            publicKey: Array(key.publicKey.x963Representation), nodeID: node, fabricID: fabricID ?? self.fabricID,
            tags: tags, randomness: &randomness)
    }

    /// A member of the fabric with a new key.
    mutating func member(
        _ node: UInt64, index: UInt8 = 1, tags: [UInt32] = [], epochKeys: [[UInt8]] = [epochKey]
    ) throws -> CASEFabric {
        let key = randomness.signingKey()
        return try CASEFabric(
            index: index, root: root.certificate, intermediate: intermediate?.certificate,
            operational: try certificate(key, node: node, tags: tags), key: Array(key.rawRepresentation),
            epochKeys: epochKeys)
    }
}
