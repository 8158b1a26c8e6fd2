/// Descriptor (Matter 9.5).
enum Descriptor {
    enum Attribute: UInt32, CaseIterable {
        case deviceTypeList = 0x0000
        case serverList = 0x0001
        case clientList = 0x0002
        case partsList = 0x0003
    }

    static let row = ClusterRow(
        .descriptor, "Descriptor", revision: 2,
        attributes: [
            AttributeRow(Attribute.deviceTypeList, "DeviceTypeList", .list, [.fixed]),
            AttributeRow(Attribute.serverList, "ServerList", .list, [.fixed]),
            AttributeRow(Attribute.clientList, "ClientList", .list, [.fixed]),
            AttributeRow(Attribute.partsList, "PartsList", .list),
        ])
}

/// Access Control (Matter 9.10).
enum AccessControl {
    enum Attribute: UInt32, CaseIterable {
        case acl = 0x0000
        case accessControlExtension = 0x0001
        case subjectsPerEntry = 0x0002
        case targetsPerEntry = 0x0003
        case entriesPerFabric = 0x0004
    }
    enum Event: UInt32, CaseIterable { case entryChanged = 0x00, extensionChanged = 0x01 }

    static let row = ClusterRow(
        .accessControl, "Access Control", revision: 1,
        attributes: [
            AttributeRow(
                Attribute.acl, "ACL", .list, read: .administer, write: .administer, [.fabricScoped, .nonvolatile]),
            AttributeRow(
                Attribute.accessControlExtension, "Extension", .list, .optional, read: .administer, write: .administer,
                [.fabricScoped, .nonvolatile]),
            AttributeRow(Attribute.subjectsPerEntry, "SubjectsPerAccessControlEntry", .uint16, [.fixed]),
            AttributeRow(Attribute.targetsPerEntry, "TargetsPerAccessControlEntry", .uint16, [.fixed]),
            AttributeRow(Attribute.entriesPerFabric, "AccessControlEntriesPerFabric", .uint16, [.fixed]),
        ],
        events: [
            EventRow(Event.entryChanged, "AccessControlEntryChanged", read: .administer, isFabricSensitive: true),
            EventRow(
                Event.extensionChanged, "AccessControlExtensionChanged", read: .administer, isFabricSensitive: true),
        ])
}

/// Basic Information (Matter 11.1).
enum BasicInformation {
    enum Attribute: UInt32, CaseIterable {
        case dataModelRevision = 0x0000
        case vendorName = 0x0001
        case vendorID = 0x0002
        case productName = 0x0003
        case productID = 0x0004
        case nodeLabel = 0x0005
        case location = 0x0006
        case hardwareVersion = 0x0007
        case hardwareVersionString = 0x0008
        case softwareVersion = 0x0009
        case softwareVersionString = 0x000A
        case serialNumber = 0x000F
        case uniqueID = 0x0012
        case capabilityMinima = 0x0013
        case specificationVersion = 0x0015
        case maxPathsPerInvoke = 0x0016
    }
    enum Event: UInt32, CaseIterable { case startUp = 0x00, shutDown = 0x01, leave = 0x02 }

    static let row = ClusterRow(
        .basicInformation, "Basic Information", revision: 3,
        attributes: [
            AttributeRow(Attribute.dataModelRevision, "DataModelRevision", .uint16, [.fixed]),
            AttributeRow(Attribute.vendorName, "VendorName", .text(max: 32), [.fixed]),
            AttributeRow(Attribute.vendorID, "VendorID", .uint16, [.fixed]),
            AttributeRow(Attribute.productName, "ProductName", .text(max: 32), [.fixed]),
            AttributeRow(Attribute.productID, "ProductID", .uint16, [.fixed]),
            AttributeRow(Attribute.nodeLabel, "NodeLabel", .text(max: 32), write: .manage, [.nonvolatile]),
            AttributeRow(Attribute.location, "Location", .text(max: 2), write: .administer, [.nonvolatile]),
            AttributeRow(Attribute.hardwareVersion, "HardwareVersion", .uint16, [.fixed]),
            AttributeRow(Attribute.hardwareVersionString, "HardwareVersionString", .text(max: 64), [.fixed]),
            AttributeRow(Attribute.softwareVersion, "SoftwareVersion", .uint32, [.fixed]),
            AttributeRow(Attribute.softwareVersionString, "SoftwareVersionString", .text(max: 64), [.fixed]),
            AttributeRow(Attribute.serialNumber, "SerialNumber", .text(max: 32), .optional, [.fixed]),
            AttributeRow(Attribute.uniqueID, "UniqueID", .text(max: 32), .optional, [.fixed]),
            AttributeRow(Attribute.capabilityMinima, "CapabilityMinima", .structure, [.fixed]),
            AttributeRow(Attribute.specificationVersion, "SpecificationVersion", .uint32, [.fixed]),
            AttributeRow(Attribute.maxPathsPerInvoke, "MaxPathsPerInvoke", .uint16, [.fixed]),
        ],
        events: [
            EventRow(Event.startUp, "StartUp", priority: .critical),
            EventRow(Event.shutDown, "ShutDown", priority: .critical, .optional),
            EventRow(Event.leave, "Leave", .optional),
        ])
}

/// General Diagnostics (Matter 11.12).
enum GeneralDiagnostics {
    enum Attribute: UInt32, CaseIterable {
        case networkInterfaces = 0x0000
        case rebootCount = 0x0001
        case upTime = 0x0002
        case bootReason = 0x0004
        case testEventTriggersEnabled = 0x0008
    }
    enum Command: UInt32, CaseIterable { case testEventTrigger = 0x00, timeSnapshot = 0x01 }
    enum Event: UInt32, CaseIterable { case bootReason = 0x03 }

    static let timeSnapshotResponse: UInt32 = 0x02

    static let row = ClusterRow(
        .generalDiagnostics, "General Diagnostics", revision: 2,
        attributes: [
            AttributeRow(Attribute.networkInterfaces, "NetworkInterfaces", .list),
            AttributeRow(Attribute.rebootCount, "RebootCount", .uint16, [.nonvolatile]),
            AttributeRow(Attribute.upTime, "UpTime", .uint64, [.changesOmitted]),
            AttributeRow(Attribute.bootReason, "BootReason", .unsigned(max: 6), .optional),
            AttributeRow(Attribute.testEventTriggersEnabled, "TestEventTriggersEnabled", .boolean),
        ],
        commands: [
            CommandRow(Command.testEventTrigger, "TestEventTrigger", .mandatory, .manage),
            CommandRow(Command.timeSnapshot, "TimeSnapshot", response: timeSnapshotResponse),
        ],
        events: [EventRow(Event.bootReason, "BootReason", priority: .critical)])
}

/// Software Diagnostics (Matter 11.13). All of its attributes are optional.
enum SoftwareDiagnostics {
    static let row = ClusterRow(.softwareDiagnostics, "Software Diagnostics", revision: 1)
}
