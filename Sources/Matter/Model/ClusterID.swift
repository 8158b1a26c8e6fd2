/// The ids of the clusters that a plug has.
enum ClusterID: UInt32, CaseIterable, Sendable {
    case identify = 0x0003
    case groups = 0x0004
    case onOff = 0x0006
    case levelControl = 0x0008
    case descriptor = 0x001D
    case accessControl = 0x001F
    case basicInformation = 0x0028
    case generalCommissioning = 0x0030
    case networkCommissioning = 0x0031
    case generalDiagnostics = 0x0033
    case softwareDiagnostics = 0x0034
    case switchCluster = 0x003B
    case administratorCommissioning = 0x003C
    case operationalCredentials = 0x003E
    case groupKeyManagement = 0x003F
    case scenesManagement = 0x0062
    case electricalPowerMeasurement = 0x0090
    case electricalEnergyMeasurement = 0x0091
    case powerTopology = 0x009C
}

/// The attributes that every cluster has (Matter 7.13).
enum GlobalAttribute: UInt32, CaseIterable, Sendable {
    case generatedCommandList = 0xFFF8
    case acceptedCommandList = 0xFFF9
    case attributeList = 0xFFFB
    case featureMap = 0xFFFC
    case clusterRevision = 0xFFFD
}
