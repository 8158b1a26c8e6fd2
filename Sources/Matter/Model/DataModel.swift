import MatterWire

/// A device type with the clusters that it requires (Matter device library).
struct DeviceTypeRow: Hashable, Sendable {
    let id: UInt32
    let name: String
    let revision: UInt16
    /// The server clusters that the device type requires. Descriptor is required on every endpoint.
    let clusters: [ClusterID]

    static let rootNode = DeviceTypeRow(
        id: 0x0016, name: "Root Node", revision: 2,
        clusters: [
            .accessControl, .basicInformation, .generalCommissioning, .networkCommissioning, .generalDiagnostics,
            .administratorCommissioning, .operationalCredentials, .groupKeyManagement,
        ])
    static let onOffPlugInUnit = DeviceTypeRow(
        id: 0x010A, name: "On/Off Plug-in Unit", revision: 3,
        clusters: [.identify, .groups, .scenesManagement, .onOff])
    static let dimmablePlugInUnit = DeviceTypeRow(
        id: 0x010B, name: "Dimmable Plug-in Unit", revision: 4,
        clusters: [.identify, .groups, .scenesManagement, .onOff, .levelControl])
    static let electricalSensor = DeviceTypeRow(
        id: 0x0510, name: "Electrical Sensor", revision: 1,
        clusters: [.powerTopology, .electricalPowerMeasurement, .electricalEnergyMeasurement])
    static let genericSwitch = DeviceTypeRow(
        id: 0x000F, name: "Generic Switch", revision: 3, clusters: [.identify, .switchCluster])
}

/// The endpoints of a plug with their device types and clusters. Everything that a controller can discover about the
/// node is derived from this table: paths, privileges, global attributes, descriptors and the documentation.
struct DataModel: Sendable {
    /// An endpoint.
    struct Endpoint: Sendable {
        let number: UInt16
        let deviceTypes: [DeviceTypeRow]
        /// The clusters by ascending id.
        let clusters: [ClusterRow]
        /// The definitions of the clusters by their id.
        let definitions: [UInt32: ClusterDefinition]

        init(_ number: UInt16, _ deviceTypes: [DeviceTypeRow], and more: [ClusterID] = []) {
            (self.number, self.deviceTypes) = (number, deviceTypes)
            let ids = Set(deviceTypes.flatMap(\.clusters) + more + [.descriptor])
            clusters = DataModel.rows.filter { ids.contains($0.id) }.sorted { $0.id.rawValue < $1.id.rawValue }
            definitions = Dictionary(uniqueKeysWithValues: clusters.map { ($0.id.rawValue, $0.definition) })
        }
    }

    /// The numbers of the endpoints.
    static let root: UInt16 = 0
    static let load: UInt16 = 1
    static let button: UInt16 = 2

    /// All clusters that a plug can have.
    static let rows = [
        Identify.row, Groups.row, OnOff.row, LevelControl.row, Descriptor.row, AccessControl.row, BasicInformation.row,
        GeneralCommissioning.row, NetworkCommissioning.row, GeneralDiagnostics.row, SoftwareDiagnostics.row,
        SwitchCluster.row, AdministratorCommissioning.row, OperationalCredentials.row, GroupKeyManagement.row,
        ScenesManagement.row, ElectricalPowerMeasurement.row, ElectricalEnergyMeasurement.row, PowerTopology.row,
    ]

    /// The endpoints by ascending number.
    let endpoints: [Endpoint]

    /// Creates the model of a plug with these features.
    init(_ features: NodeFeatures) {
        let load = features.dims ? DeviceTypeRow.dimmablePlugInUnit : .onOffPlugInUnit
        var endpoints = [
            Endpoint(Self.root, [.rootNode], and: [.softwareDiagnostics]),
            Endpoint(Self.load, features.meters ? [load, .electricalSensor] : [load]),
        ]
        if features.hasButton { endpoints.append(Endpoint(Self.button, [.genericSwitch])) }
        self.endpoints = endpoints
    }

    /// The device type that commissionable announcements show.
    var primaryDeviceType: UInt32 { self[Self.load]?.deviceTypes.first?.id ?? DeviceTypeRow.onOffPlugInUnit.id }

    /// The endpoint with this number.
    subscript(number: UInt16) -> Endpoint? { endpoints.first { $0.number == number } }

    /// The row of an attribute of an existing cluster.
    func row(of attribute: UInt32, of cluster: UInt32) -> AttributeRow? {
        Self.rows.first { $0.id.rawValue == cluster }?.attributes.first { $0.id == attribute }
            ?? ClusterRow.globalAttributes.first { $0.id == attribute }
    }
}
