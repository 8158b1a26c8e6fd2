import MatterSessions
import MatterWire
import ProtocolCore

/// Administrator Commissioning (Matter 11.19).
struct AdministratorCommissioningServer: ClusterServer {
    /// StatusCodeEnum (Matter 11.19.6.2).
    private enum Code: UInt8 {
        case busy = 2
        case parameterError = 3
        case windowNotOpen = 4
    }

    /// CommissioningWindowStatusEnum (Matter 11.19.5.1).
    private enum Status: UInt8 {
        case notOpen = 0
        case enhancedOpen = 1
        case basicOpen = 2
    }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        // Only a window that an administrator opened is reported.
        let opening = state.window.opening.flatMap { $0.administrator == nil ? nil : $0 }
        return switch try known(attribute, AdministratorCommissioning.Attribute.self, or: .unsupportedAttribute) {
        case .windowStatus:
            .number((opening.map { $0.isEnhanced ? Status.enhancedOpen : .basicOpen } ?? .notOpen).rawValue)
        case .adminFabricIndex: .number(orNull: opening?.administrator?.fabric)
        case .adminVendorID: .number(orNull: opening?.administrator?.vendor)
        }
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        switch try known(command, AdministratorCommissioning.Command.self, or: .unsupportedCommand) {
        case .openCommissioningWindow:
            let length = try length(fields)
            let discriminator = try fields.field(2, UInt16.self, in: 0...0xFFF)
            let administrator = try administrator(call, state)
            let verifier = try verifier(fields)
            state.openWindow(
                length, verifier: verifier, discriminator: discriminator, administrator: administrator, now: call.now)
        case .openBasicCommissioningWindow:
            let length = try length(fields)
            state.openWindow(length, administrator: try administrator(call, state), now: call.now)
        case .revokeCommissioning:
            let isCommissioning = state.failSafe.isArmed && state.failSafe.isForCommissioning
            guard state.window.opening != nil || isCommissioning else { throw Self.failure(.windowNotOpen) }
            state.closeWindow()
            if isCommissioning { state.expireFailSafe(now: call.now) }
        }
        return .status(.success)
    }

    private static func failure(_ code: Code) -> InteractionStatus {
        InteractionStatus(.failure, cluster: code.rawValue)
    }

    /// The field CommissioningTimeout.
    private func length(_ fields: TLVValue) throws(InteractionStatus) -> Duration {
        let length = Duration.seconds(Int64(try fields.field(0, UInt16.self)))
        guard CommissioningWindow.lengths.contains(length) else { throw InteractionStatus(.invalidCommand) }
        return length
    }

    /// The administrator of a new window. Throws if no window can be opened now.
    private func administrator(
        _ call: Call, _ state: NodeState
    ) throws(InteractionStatus) -> CommissioningWindow.Administrator {
        guard call.node != nil, let fabric = state.records.fabric(call.fabric) else {
            throw InteractionStatus(.invalidCommand)
        }
        guard state.window.opening == nil, !state.window.isOccupied, !state.failSafe.isArmed else {
            throw Self.failure(.busy)
        }
        return CommissioningWindow.Administrator(fabric: fabric.index, vendor: fabric.vendor)
    }

    /// The verifier of the passcode that the administrator chose.
    private func verifier(_ fields: TLVValue) throws(InteractionStatus) -> SpakeVerifier {
        guard let encoded = fields[1]?.asBytes, let salt = fields[4]?.asBytes else {
            throw InteractionStatus(.invalidCommand)
        }
        let iterations = try fields.field(3, UInt32.self)
        do { return try SpakeVerifier(encoded: encoded, salt: salt, iterations: iterations) } catch {
            throw Self.failure(.parameterError)
        }
    }
}
