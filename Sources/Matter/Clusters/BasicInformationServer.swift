import MatterSessions
import MatterWire
import ProtocolCore

/// Basic Information (Matter 11.1).
struct BasicInformationServer: ClusterServer {
    /// The revision of the data model (Matter 7.1).
    static let dataModelRevision: UInt16 = 17
    /// Matter 1.3.
    static let specificationVersion: UInt32 = 0x0103_0000
    /// The limits that every fabric can rely on (Matter 11.1.5.20).
    static let sessionsPerFabric: UInt16 = 3
    static let subscriptionsPerFabric: UInt16 = 3
    /// The limit of commands per invoke request.
    static let pathsPerInvoke: UInt16 = 1
    /// The length limit of the label in bytes.
    static let labelLimit = 32

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        let configuration = state.configuration
        return switch try known(attribute, BasicInformation.Attribute.self, or: .unsupportedAttribute) {
        case .dataModelRevision: .number(Self.dataModelRevision)
        case .vendorName: .text(configuration.vendorName.prefix(bytes: 32))
        case .vendorID: .number(configuration.vendor)
        case .productName: .text(configuration.productName.prefix(bytes: 32))
        case .productID: .number(configuration.product)
        case .nodeLabel: .text(state.label)
        case .location: .text(state.records.settings.location)
        case .hardwareVersion: .number(configuration.hardwareVersion)
        case .hardwareVersionString: .text(configuration.hardwareVersionName.prefix(bytes: 64))
        case .softwareVersion: .number(configuration.firmwareNumber)
        case .softwareVersionString: .text(configuration.firmware.prefix(bytes: 64))
        case .serialNumber: .text(configuration.serialNumber.prefix(bytes: 32))
        case .uniqueID: .text(configuration.uniqueID.prefix(bytes: 32))
        case .capabilityMinima:
            .fields((0, .number(Self.sessionsPerFabric)), (1, .number(Self.subscriptionsPerFabric)))
        case .specificationVersion: .number(Self.specificationVersion)
        case .maxPathsPerInvoke: .number(Self.pathsPerInvoke)
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        guard let text = value.asText, let attribute = BasicInformation.Attribute(rawValue: attribute) else {
            throw InteractionStatus(.unsupportedWrite)
        }
        if attribute == .nodeLabel {
            state.records.settings.label = text
            state.effects.add(.announce)
        } else if attribute == .location {
            guard text.utf8.count == 2 else { throw InteractionStatus(.constraintError) }
            state.records.settings.location = text
        } else {
            throw InteractionStatus(.unsupportedWrite)
        }
        state.changed(attribute, of: .basicInformation)
        state.effects.store()
    }
}

extension NodeState {
    /// The attribute NodeLabel: the label that a controller wrote, or the plug's name.
    var label: String {
        (records.settings.label ?? records.settings.plugName ?? configuration.name)
            .prefix(bytes: BasicInformationServer.labelLimit)
    }

    /// Handles the plug's name. A name that differs from the previous one replaces the label of a controller.
    mutating func rename(_ name: String) {
        guard records.settings.plugName != name else { return }
        let before = label
        if records.settings.plugName != nil { records.settings.label = nil }
        records.settings.plugName = name
        effects.store()
        guard label != before else { return }
        changed(BasicInformation.Attribute.nodeLabel, of: .basicInformation)
        effects.add(.announce)
    }
}

extension String {
    /// The longest prefix of whole characters with at most so many bytes of UTF-8.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var (kept, count) = ("", 0)
        for character in self {
            count += character.utf8.count
            if count > limit { break }
            kept.append(character)
        }
        return kept
    }
}
