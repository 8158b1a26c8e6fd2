import MatterWire
import ProtocolCore

/// General Commissioning (Matter 11.10).
struct GeneralCommissioningServer: ClusterServer {
    /// CommissioningErrorEnum (Matter 11.10.5.1).
    private enum Code: UInt8 {
        case ok = 0
        case valueOutsideRange = 1
        case invalidAuthentication = 2
        case noFailSafe = 3
        case busyWithOtherAdmin = 4
    }

    /// RegulatoryLocationTypeEnum: indoor and outdoor. The plug has no radio, so every configuration is possible.
    private static let anywhere: UInt64 = 2

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, GeneralCommissioning.Attribute.self, or: .unsupportedAttribute) {
        case .breadcrumb: .unsigned(state.breadcrumb)
        case .basicCommissioningInfo:
            .fields(
                (0, .unsigned(UInt64(FailSafe.usualLength.components.seconds))),
                (1, .unsigned(UInt64(FailSafe.longestTotal.components.seconds))))
        case .regulatoryConfig: .number(state.records.settings.regulatoryConfig)
        case .locationCapability: .unsigned(Self.anywhere)
        case .supportsConcurrentConnection: .boolean(true)
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        guard attribute == GeneralCommissioning.Attribute.breadcrumb.rawValue, let number = value.asUnsigned else {
            throw InteractionStatus(.unsupportedWrite)
        }
        state.setBreadcrumb(number)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let (response, code): (UInt32, Code) =
            switch try known(command, GeneralCommissioning.Command.self, or: .unsupportedCommand) {
            case .armFailSafe: (0x01, try armFailSafe(fields, call, &state))
            case .setRegulatoryConfig: (0x03, try setRegulation(fields, call, &state))
            case .commissioningComplete: (0x05, try complete(call, &state))
            }
        return .response(response, .fields((0, .number(code.rawValue)), (1, .text(""))))
    }

    private func armFailSafe(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> Code {
        let seconds = try fields.field(0, UInt16.self)
        let breadcrumb = try fields.field(1, UInt64.self)
        if state.failSafe.isArmed {
            guard state.failSafe.fabric == call.fabric else { return .busyWithOtherAdmin }
        } else if call.node != nil, state.window.opening != nil || state.window.isOccupied {
            // A commissioner that uses the open window has precedence (Matter 11.10.7.2).
            return .busyWithOtherAdmin
        }
        if seconds == 0 {
            state.expireFailSafe(except: call.accessor.session, now: call.now)
        } else {
            state.armFailSafe(
                .seconds(Int64(seconds)), fabric: call.fabric, isForCommissioning: call.node == nil, now: call.now)
        }
        state.setBreadcrumb(breadcrumb)
        return .ok
    }

    private func setRegulation(
        _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> Code {
        let config = try fields.field(0, UInt8.self)
        let country = try fields.textField(1, limit: 2)
        let breadcrumb = try fields.field(2, UInt64.self)
        guard country.utf8.count == 2 else { throw InteractionStatus(.constraintError) }
        guard UInt64(config) <= Self.anywhere else { return .valueOutsideRange }
        if state.failSafe.isArmed {
            let settings = state.records.settings
            state.failSafe.record(
                previous: FailSafe.Regulation(config: settings.regulatoryConfig, location: settings.location))
        }
        state.set(FailSafe.Regulation(config: config, location: country))
        state.setBreadcrumb(breadcrumb)
        return .ok
    }

    private func complete(_ call: Call, _ state: inout NodeState) throws(InteractionStatus) -> Code {
        guard state.failSafe.isArmed else { return .noFailSafe }
        guard call.node != nil, state.failSafe.fabric == call.fabric, let fabric = state.records.fabric(call.fabric)
        else { return .invalidAuthentication }
        state.completeCommissioning(fabric)
        return .ok
    }
}
