/// Power Topology (Matter application clusters 2.8).
enum PowerTopology {
    enum Feature { static let tree: UInt32 = 1 << 1 }

    static let row = ClusterRow(
        .powerTopology, "Power Topology", revision: 1, features: [FeatureRow(Feature.tree, "TREE")])
}

/// Electrical Power Measurement (Matter application clusters 2.13).
enum ElectricalPowerMeasurement {
    enum Feature { static let alternatingCurrent: UInt32 = 1 << 1 }
    enum Attribute: UInt32, CaseIterable {
        case powerMode = 0x0000
        case numberOfMeasurementTypes = 0x0001
        case accuracy = 0x0002
        case voltage = 0x0004
        case activeCurrent = 0x0005
        case activePower = 0x0008
    }

    static let row = ClusterRow(
        .electricalPowerMeasurement, "Electrical Power Measurement", revision: 1,
        features: [FeatureRow(Feature.alternatingCurrent, "ALTC")],
        attributes: [
            AttributeRow(Attribute.powerMode, "PowerMode", .unsigned(max: 2)),
            AttributeRow(Attribute.numberOfMeasurementTypes, "NumberOfMeasurementTypes", .uint8, [.fixed]),
            AttributeRow(Attribute.accuracy, "Accuracy", .list, [.fixed]),
            AttributeRow(Attribute.voltage, "Voltage", .signed, .optional, [.nullable, .quieter]),
            AttributeRow(Attribute.activeCurrent, "ActiveCurrent", .signed, .optional, [.nullable, .quieter]),
            AttributeRow(Attribute.activePower, "ActivePower", .signed, [.nullable, .quieter]),
        ])
}

/// Electrical Energy Measurement (Matter application clusters 2.12).
enum ElectricalEnergyMeasurement {
    enum Feature {
        static let imported: UInt32 = 1 << 0
        static let cumulative: UInt32 = 1 << 2
        static let periodic: UInt32 = 1 << 3
    }
    enum Attribute: UInt32, CaseIterable {
        case accuracy = 0x0000
        case cumulativeEnergyImported = 0x0001
        case periodicEnergyImported = 0x0003
    }
    enum Event: UInt32, CaseIterable { case cumulativeEnergyMeasured = 0x00, periodicEnergyMeasured = 0x01 }

    static let row = ClusterRow(
        .electricalEnergyMeasurement, "Electrical Energy Measurement", revision: 1,
        features: [
            FeatureRow(Feature.imported, "IMPE"), FeatureRow(Feature.cumulative, "CUME"),
            FeatureRow(Feature.periodic, "PERE"),
        ],
        attributes: [
            AttributeRow(Attribute.accuracy, "Accuracy", .structure, [.fixed]),
            AttributeRow(
                Attribute.cumulativeEnergyImported, "CumulativeEnergyImported", .structure,
                .with(Feature.imported | Feature.cumulative), [.nullable, .quieter]),
            AttributeRow(
                Attribute.periodicEnergyImported, "PeriodicEnergyImported", .structure,
                .with(Feature.imported | Feature.periodic), [.nullable, .quieter]),
        ],
        events: [
            EventRow(Event.cumulativeEnergyMeasured, "CumulativeEnergyMeasured", .with(Feature.cumulative)),
            EventRow(Event.periodicEnergyMeasured, "PeriodicEnergyMeasured", .with(Feature.periodic)),
        ])
}
