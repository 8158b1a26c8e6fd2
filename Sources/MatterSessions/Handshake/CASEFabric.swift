public import MatterWire

/// A fabric of this node, as CASE needs it (Matter 4.14.2).
public struct CASEFabric: Hashable, Sendable, CustomStringConvertible {
    /// The index of the fabric on this node, from 1 on.
    public var index: UInt8
    public var fabricID: UInt64
    /// The node id of this node in the fabric.
    public var nodeID: UInt64
    /// The public key of the root certificate, 65 bytes.
    public var rootPublicKey: [UInt8]
    public var root: MatterCertificate
    /// This node's certificate, in TLV.
    public var operationalCertificate: [UInt8]
    /// The certificate between this node's certificate and the root, in TLV.
    public var intermediate: [UInt8]?
    /// The private key of this node's certificate, 32 bytes.
    public var key: [UInt8]
    /// The operational identity protection keys, 16 bytes each (Matter 4.15.2). The first one is used for new
    /// handshakes.
    public var identityProtectionKeys: [[UInt8]]
    /// The compressed fabric id, 8 bytes.
    public var compressedID: [UInt8]

    /// Creates a fabric from stored values, which are not checked.
    public init(
        index: UInt8, fabricID: UInt64, nodeID: UInt64, rootPublicKey: [UInt8], root: MatterCertificate,
        operationalCertificate: [UInt8], intermediate: [UInt8]?, key: [UInt8], identityProtectionKeys: [[UInt8]],
        compressedID: [UInt8]
    ) {
        self.index = index
        self.fabricID = fabricID
        self.nodeID = nodeID
        self.rootPublicKey = rootPublicKey
        self.root = root
        self.operationalCertificate = operationalCertificate
        self.intermediate = intermediate
        self.key = key
        self.identityProtectionKeys = identityProtectionKeys
        self.compressedID = compressedID
    }

    /// Creates a fabric from its certificates and keys. All ids are read from the certificates.
    ///
    /// - Parameters:
    ///   - key: the private key of the operational certificate, 32 bytes.
    ///   - epochKeys: the epoch keys of the identity protection key set, 16 bytes each.
    /// - Throws: ``MatterError`` if the certificates are not a valid chain or the key does not belong to them.
    public init(
        index: UInt8, root: MatterCertificate, intermediate: MatterCertificate?, operational: MatterCertificate,
        key: [UInt8], epochKeys: [[UInt8]]
    ) throws(MatterError) {
        let ids = try CertificateChain.verify(operational: operational, intermediate: intermediate, root: root)
        guard HandshakeCryptography.publicKey(of: key) == operational.publicKey else {
            throw .notAuthentic("certificate: the private key is not the operational certificate's")
        }
        let compressedID = FabricIdentity.compressedID(rootPublicKey: root.publicKey, fabricID: ids.fabricID)
        self.init(
            index: index, fabricID: ids.fabricID, nodeID: ids.nodeID, rootPublicKey: root.publicKey, root: root,
            operationalCertificate: operational.encoded, intermediate: intermediate?.encoded, key: key,
            identityProtectionKeys: epochKeys.map {
                FabricIdentity.operationalKey(of: $0, compressedID: compressedID)
            }, compressedID: compressedID)
    }

    /// The fabric without its keys.
    public var description: String { "fabric \(index), node \(nodeID) of \(fabricID)" }
}

/// The secret with which a CASE session can be resumed (Matter 4.14.2.4).
public struct ResumptionRecord: Hashable, Sendable, CustomStringConvertible {
    /// The identifier that the responder chose, 16 bytes.
    public var id: [UInt8]
    /// The shared secret of the session, 32 bytes.
    public var secret: [UInt8]
    /// The peer of the session.
    public var peer: OperationalPeer

    public init(id: [UInt8], secret: [UInt8], peer: OperationalPeer) {
        self.id = id
        self.secret = secret
        self.peer = peer
    }

    /// The record without its secret.
    public var description: String { "resumption with node \(peer.node) of fabric \(peer.fabric)" }
}
