import MatterWire
import ProtocolCore

/// General Diagnostics (Matter 11.12).
struct GeneralDiagnosticsServer: ClusterServer {
    /// InterfaceType: Ethernet.
    private static let ethernet: UInt64 = 2
    /// The limits of addresses that NetworkInterfaces lists (Matter 11.12.4.6).
    private static let addressLimits: [Int: Int] = [4: 4, 16: 8]

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, GeneralDiagnostics.Attribute.self, or: .unsupportedAttribute) {
        case .networkInterfaces: .array([Self.interface(state)])
        case .rebootCount: .number(state.records.counters.reboots)
        case .upTime: .unsigned(UInt64(clamping: call.now.nanoseconds / 1_000_000_000))
        case .bootReason: .number(state.configuration.startReason.rawValue)
        case .testEventTriggersEnabled: .boolean(false)
        }
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        switch try known(command, GeneralDiagnostics.Command.self, or: .unsupportedCommand) {
        case .testEventTrigger:
            _ = try fields.bytesField(0, 16...16)
            _ = try fields.field(1, UInt64.self)
            // No key is valid, because the plug has no test events.
            throw InteractionStatus(.constraintError)
        case .timeSnapshot:
            // The node has no wall clock.
            let milliseconds = UInt64(clamping: call.now.nanoseconds / 1_000_000)
            return .response(
                GeneralDiagnostics.timeSnapshotResponse, .fields((0, .unsigned(milliseconds)), (1, .null)))
        }
    }

    private static func interface(_ state: NodeState) -> TLVValue {
        func addresses(_ length: Int) -> TLVValue {
            .array(state.addresses.filter { $0.count == length }.prefix(addressLimits[length] ?? 0).map { .bytes($0) })
        }
        return .fields(
            (0, .text(state.configuration.interfaceName.prefix(bytes: 32))), (1, .boolean(true)), (2, .null),
            (3, .null), (4, .bytes(state.configuration.hardwareAddress)), (5, addresses(4)), (6, addresses(16)),
            (7, .unsigned(ethernet)))
    }
}

/// Network Commissioning of an Ethernet interface, which needs no configuration (Matter 11.9).
struct NetworkCommissioningServer: ClusterServer {
    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, NetworkCommissioning.Attribute.self, or: .unsupportedAttribute) {
        case .maxNetworks: .unsigned(1)
        case .networks:
            .array([
                .fields(
                    (0, .bytes(Array(state.configuration.interfaceName.prefix(bytes: 32).utf8))), (1, .boolean(true)))
            ])
        case .interfaceEnabled: .boolean(true)
        case .lastNetworkingStatus, .lastNetworkID, .lastConnectErrorValue: .null
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        // The only interface cannot be disabled, because the node would be unreachable.
        guard value == .boolean(true) else { throw InteractionStatus(.invalidAction) }
    }
}
