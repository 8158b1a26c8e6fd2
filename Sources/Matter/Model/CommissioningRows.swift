/// General Commissioning (Matter 11.10).
enum GeneralCommissioning {
    enum Attribute: UInt32, CaseIterable {
        case breadcrumb = 0x0000
        case basicCommissioningInfo = 0x0001
        case regulatoryConfig = 0x0002
        case locationCapability = 0x0003
        case supportsConcurrentConnection = 0x0004
    }
    enum Command: UInt32, CaseIterable {
        case armFailSafe = 0x00
        case setRegulatoryConfig = 0x02
        case commissioningComplete = 0x04
    }

    static let row = ClusterRow(
        .generalCommissioning, "General Commissioning", revision: 1,
        attributes: [
            AttributeRow(Attribute.breadcrumb, "Breadcrumb", .uint64, write: .administer),
            AttributeRow(Attribute.basicCommissioningInfo, "BasicCommissioningInfo", .structure, [.fixed]),
            AttributeRow(Attribute.regulatoryConfig, "RegulatoryConfig", .unsigned(max: 2)),
            AttributeRow(Attribute.locationCapability, "LocationCapability", .unsigned(max: 2), [.fixed]),
            AttributeRow(
                Attribute.supportsConcurrentConnection, "SupportsConcurrentConnection", .boolean, [.fixed]),
        ],
        commands: [
            CommandRow(Command.armFailSafe, "ArmFailSafe", response: 0x01, .mandatory, .administer),
            CommandRow(Command.setRegulatoryConfig, "SetRegulatoryConfig", response: 0x03, .mandatory, .administer),
            CommandRow(
                Command.commissioningComplete, "CommissioningComplete", response: 0x05, .mandatory, .administer,
                isFabricScoped: true),
        ])
}

/// Network Commissioning (Matter 11.9).
enum NetworkCommissioning {
    enum Feature { static let ethernet: UInt32 = 1 << 2 }
    enum Attribute: UInt32, CaseIterable {
        case maxNetworks = 0x0000
        case networks = 0x0001
        case interfaceEnabled = 0x0004
        case lastNetworkingStatus = 0x0005
        case lastNetworkID = 0x0006
        case lastConnectErrorValue = 0x0007
    }

    static let row = ClusterRow(
        .networkCommissioning, "Network Commissioning", revision: 2, features: [FeatureRow(Feature.ethernet, "ET")],
        attributes: [
            AttributeRow(Attribute.maxNetworks, "MaxNetworks", .uint8, read: .administer, [.fixed]),
            AttributeRow(Attribute.networks, "Networks", .list, read: .administer),
            AttributeRow(
                Attribute.interfaceEnabled, "InterfaceEnabled", .boolean, write: .administer, [.nonvolatile]),
            AttributeRow(
                Attribute.lastNetworkingStatus, "LastNetworkingStatus", .unsigned(max: 12), read: .administer,
                [.nullable]),
            AttributeRow(Attribute.lastNetworkID, "LastNetworkID", .bytes(max: 32), read: .administer, [.nullable]),
            AttributeRow(
                Attribute.lastConnectErrorValue, "LastConnectErrorValue", .signed, read: .administer, [.nullable]),
        ])
}

/// Administrator Commissioning (Matter 11.19).
enum AdministratorCommissioning {
    enum Feature { static let basic: UInt32 = 1 << 0 }
    enum Attribute: UInt32, CaseIterable {
        case windowStatus = 0x0000
        case adminFabricIndex = 0x0001
        case adminVendorID = 0x0002
    }
    enum Command: UInt32, CaseIterable {
        case openCommissioningWindow = 0x00
        case openBasicCommissioningWindow = 0x01
        case revokeCommissioning = 0x02
    }

    static let row = ClusterRow(
        .administratorCommissioning, "Administrator Commissioning", revision: 1,
        features: [FeatureRow(Feature.basic, "BC")],
        attributes: [
            AttributeRow(Attribute.windowStatus, "WindowStatus", .unsigned(max: 2)),
            AttributeRow(Attribute.adminFabricIndex, "AdminFabricIndex", .uint8, [.nullable]),
            AttributeRow(Attribute.adminVendorID, "AdminVendorId", .uint16, [.nullable]),
        ],
        commands: [
            CommandRow(
                Command.openCommissioningWindow, "OpenCommissioningWindow", .mandatory, .administer, isTimed: true),
            CommandRow(
                Command.openBasicCommissioningWindow, "OpenBasicCommissioningWindow", .with(Feature.basic),
                .administer, isTimed: true),
            CommandRow(Command.revokeCommissioning, "RevokeCommissioning", .mandatory, .administer, isTimed: true),
        ])
}

/// Operational Credentials (Matter 11.18).
enum OperationalCredentials {
    enum Attribute: UInt32, CaseIterable {
        case nocs = 0x0000
        case fabrics = 0x0001
        case supportedFabrics = 0x0002
        case commissionedFabrics = 0x0003
        case trustedRootCertificates = 0x0004
        case currentFabricIndex = 0x0005
    }
    enum Command: UInt32, CaseIterable {
        case attestationRequest = 0x00
        case certificateChainRequest = 0x02
        case csrRequest = 0x04
        case addNOC = 0x06
        case updateNOC = 0x07
        case updateFabricLabel = 0x09
        case removeFabric = 0x0A
        case addTrustedRootCertificate = 0x0B
    }
    /// The response commands.
    enum Response {
        static let attestation: UInt32 = 0x01
        static let certificateChain: UInt32 = 0x03
        static let csr: UInt32 = 0x05
        static let noc: UInt32 = 0x08
    }

    private static func command(
        _ id: Command, _ name: String, _ response: UInt32?, isFabricScoped: Bool = false
    ) -> CommandRow {
        CommandRow(id, name, response: response, .mandatory, .administer, isFabricScoped: isFabricScoped)
    }

    static let row = ClusterRow(
        .operationalCredentials, "Operational Credentials", revision: 1,
        attributes: [
            AttributeRow(
                Attribute.nocs, "NOCs", .list, read: .administer, [.fabricScoped, .nonvolatile, .changesOmitted]),
            AttributeRow(Attribute.fabrics, "Fabrics", .list, [.fabricScoped, .nonvolatile]),
            AttributeRow(Attribute.supportedFabrics, "SupportedFabrics", .uint8, [.fixed]),
            AttributeRow(Attribute.commissionedFabrics, "CommissionedFabrics", .uint8, [.nonvolatile]),
            AttributeRow(
                Attribute.trustedRootCertificates, "TrustedRootCertificates", .list, [.nonvolatile, .changesOmitted]),
            AttributeRow(Attribute.currentFabricIndex, "CurrentFabricIndex", .uint8),
        ],
        commands: [
            command(.attestationRequest, "AttestationRequest", Response.attestation),
            command(.certificateChainRequest, "CertificateChainRequest", Response.certificateChain),
            command(.csrRequest, "CSRRequest", Response.csr),
            command(.addNOC, "AddNOC", Response.noc),
            command(.updateNOC, "UpdateNOC", Response.noc, isFabricScoped: true),
            command(.updateFabricLabel, "UpdateFabricLabel", Response.noc, isFabricScoped: true),
            command(.removeFabric, "RemoveFabric", Response.noc),
            command(.addTrustedRootCertificate, "AddTrustedRootCertificate", nil),
        ])
}

/// Group Key Management (Matter 11.2).
enum GroupKeyManagement {
    enum Attribute: UInt32, CaseIterable {
        case groupKeyMap = 0x0000
        case groupTable = 0x0001
        case maxGroupsPerFabric = 0x0002
        case maxGroupKeysPerFabric = 0x0003
    }
    enum Command: UInt32, CaseIterable {
        case keySetWrite = 0x00
        case keySetRead = 0x01
        case keySetRemove = 0x03
        case keySetReadAllIndices = 0x04
    }

    static let row = ClusterRow(
        .groupKeyManagement, "Group Key Management", revision: 2,
        attributes: [
            AttributeRow(
                Attribute.groupKeyMap, "GroupKeyMap", .list, write: .manage, [.fabricScoped, .nonvolatile]),
            AttributeRow(Attribute.groupTable, "GroupTable", .list, [.fabricScoped]),
            AttributeRow(Attribute.maxGroupsPerFabric, "MaxGroupsPerFabric", .uint16, [.fixed]),
            AttributeRow(Attribute.maxGroupKeysPerFabric, "MaxGroupKeysPerFabric", .uint16, [.fixed]),
        ],
        commands: [
            CommandRow(Command.keySetWrite, "KeySetWrite", .mandatory, .administer, isFabricScoped: true),
            CommandRow(Command.keySetRead, "KeySetRead", response: 0x02, .mandatory, .administer, isFabricScoped: true),
            CommandRow(Command.keySetRemove, "KeySetRemove", .mandatory, .administer, isFabricScoped: true),
            CommandRow(
                Command.keySetReadAllIndices, "KeySetReadAllIndices", response: 0x05, .mandatory, .administer,
                isFabricScoped: true),
        ])
}
