import Crypto
import MatterSessions
import MatterWire

/// The operational credentials of a fabric (Matter 6.4): certificates in TLV and the private key of this node.
struct FabricCredentials: Hashable, Sendable, CustomStringConvertible {
    let root: [UInt8]
    let operational: [UInt8]
    let intermediate: [UInt8]?
    /// The private key of the operational certificate, 32 bytes.
    let key: [UInt8]
    let fabricID: UInt64
    let nodeID: UInt64
    let rootPublicKey: [UInt8]
    let compressedID: [UInt8]

    /// Verifies the chain and that the key belongs to the operational certificate.
    ///
    /// - Throws: ``MatterError`` if a certificate, the chain or the key is not valid.
    init(root: [UInt8], operational: [UInt8], intermediate: [UInt8]?, key: [UInt8]) throws(MatterError) {
        let rootCertificate = try MatterCertificate(decoding: root)
        let operationalCertificate = try MatterCertificate(decoding: operational)
        var intermediateCertificate: MatterCertificate?
        if let intermediate { intermediateCertificate = try MatterCertificate(decoding: intermediate) }
        let identity = try CertificateChain.verify(
            operational: operationalCertificate, intermediate: intermediateCertificate, root: rootCertificate)
        let signingKey: P256.Signing.PrivateKey
        do { signingKey = try P256.Signing.PrivateKey(rawRepresentation: key) } catch {
            throw .cryptography("the operational key is not valid")
        }
        guard Array(signingKey.publicKey.x963Representation) == operationalCertificate.publicKey else {
            throw .notAuthentic("the operational certificate has a different public key")
        }
        (self.root, self.operational, self.intermediate, self.key) = (root, operational, intermediate, key)
        (fabricID, nodeID, rootPublicKey) = (identity.fabricID, identity.nodeID, rootCertificate.publicKey)
        compressedID = FabricIdentity.compressedID(rootPublicKey: rootPublicKey, fabricID: fabricID)
    }

    /// Omits the private key.
    var description: String { "node \(nodeID) of fabric \(fabricID)" }
}

/// A fabric of this node with all data that belongs to it, so that the removal of a fabric removes all its data.
struct Fabric: Hashable, Sendable {
    /// The length limit of a label in bytes.
    static let labelLimit = 32
    /// The length limit of an access control extension in bytes (Matter 9.10.5.7).
    static let extensionLimit = 128

    let index: UInt8
    var credentials: FabricCredentials
    let vendor: UInt16
    var label = ""
    var accessControl: [AccessControlEntry]
    /// The administrator's data for the attribute Extension, or nil without such data.
    var accessExtension: [UInt8]?
    var keySets: [GroupKeySet]
    var groupKeyMap: [GroupKeyMapping] = []
    var groups: [GroupMembership] = []
    var scenes = SceneTable()

    var summary: MatterFabricSummary {
        MatterFabricSummary(
            index: index, fabricID: credentials.fabricID, nodeID: credentials.nodeID, vendor: vendor, label: label)
    }

    /// The fabric's credentials for CASE. Throws if the stored root certificate is not valid.
    func caseFabric() throws(MatterError) -> CASEFabric {
        let epochKeys = keySets.first { $0.id == GroupKeySet.identityProtection }?.keys ?? []
        return CASEFabric(
            index: index, fabricID: credentials.fabricID, nodeID: credentials.nodeID,
            rootPublicKey: credentials.rootPublicKey, root: try MatterCertificate(decoding: credentials.root),
            operationalCertificate: credentials.operational, intermediate: credentials.intermediate,
            key: credentials.key,
            identityProtectionKeys: epochKeys.map {
                FabricIdentity.operationalKey(of: $0.key, compressedID: credentials.compressedID)
            },
            compressedID: credentials.compressedID)
    }

    /// The keys of the groups that have members on this node.
    var operationalGroupKeys: [GroupKey] {
        let members = Set(groups.map(\.group))
        return keySets.flatMap { set -> [GroupKey] in
            let used = members.intersection(groupKeyMap.filter { $0.keySet == set.id }.map(\.group))
            guard !used.isEmpty else { return [] }
            return set.keys.map { epoch in
                GroupKey(
                    fabric: index, groups: used,
                    operationalKey: FabricIdentity.operationalKey(
                        of: epoch.key, compressedID: credentials.compressedID))
            }
        }
    }

    /// The group with this id, if the endpoint is a member.
    func group(_ id: UInt16, on endpoint: UInt16) -> GroupMembership? {
        groups.first { $0.group == id && $0.endpoints.contains(endpoint) }
    }

    /// Removes an endpoint from the groups for which the closure returns true, and the scenes of these groups.
    mutating func leaveGroups(on endpoint: UInt16, where isLeft: (_ group: UInt16) -> Bool) {
        for index in groups.indices where isLeft(groups[index].group) {
            groups[index].endpoints.removeAll { $0 == endpoint }
        }
        groups.removeAll { $0.endpoints.isEmpty }
        scenes.removeAll { $0 != 0 && isLeft($0) }
    }
}
