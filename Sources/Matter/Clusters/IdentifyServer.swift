import MatterWire
import ProtocolCore

/// Identify (Matter application clusters 1.2).
struct IdentifyServer: ClusterServer {
    /// IdentifyType: the plug blinks its light.
    private static let visibleIndicator: UInt64 = 2
    /// The times for which the plug blinks for the effects of TriggerEffect, which are finer than its light can show.
    private static let effects: [UInt8: Duration] = [
        0x00: .seconds(1), 0x01: .seconds(15), 0x02: .seconds(1), 0x0B: .seconds(8), 0xFE: .zero, 0xFF: .zero,
    ]

    private let endpoint: UInt16

    init(endpoint: UInt16) { self.endpoint = endpoint }

    func read(_ attribute: UInt32, _ call: Call, _ state: NodeState) throws(InteractionStatus) -> TLVValue {
        switch try known(attribute, Identify.Attribute.self, or: .unsupportedAttribute) {
        case .identifyTime: .unsigned(remaining(state, call.now))
        case .identifyType: .unsigned(Self.visibleIndicator)
        }
    }

    mutating func write(
        _ attribute: UInt32, _ value: TLVValue, appends: Bool, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) {
        guard attribute == Identify.Attribute.identifyTime.rawValue, let seconds = value.unsigned(UInt16.self) else {
            throw InteractionStatus(.unsupportedWrite)
        }
        identify(.seconds(Int64(seconds)), call.now, &state)
        state.ask(.identify(.seconds(Int64(seconds))), from: call.origin)
    }

    mutating func invoke(
        _ command: UInt32, _ fields: TLVValue, _ call: Call, _ state: inout NodeState
    ) throws(InteractionStatus) -> CommandReply {
        let length: Duration
        switch try known(command, Identify.Command.self, or: .unsupportedCommand) {
        case .identify:
            length = .seconds(Int64(try fields.field(0, UInt16.self)))
            identify(length, call.now, &state)
        case .triggerEffect:
            guard let known = Self.effects[try fields.field(0, UInt8.self)] else {
                throw InteractionStatus(.constraintError)
            }
            _ = try fields.field(1, UInt8.self)
            length = known
        }
        return try state.ask(.identify(length), for: call)
    }

    mutating func expire(now: Instant, _ state: inout NodeState) {
        guard let end = state.identification[endpoint], end <= now else { return }
        state.identification[endpoint] = nil
        state.changed(Identify.Attribute.identifyTime, of: .identify, on: endpoint)
    }

    func nextDeadline(_ state: NodeState) -> Instant? { state.identification[endpoint] }

    private func identify(_ length: Duration, _ now: Instant, _ state: inout NodeState) {
        state.identification[endpoint] = length > .zero ? now + length : nil
        state.changed(Identify.Attribute.identifyTime, of: .identify, on: endpoint)
    }

    /// The remaining time in seconds, rounded up.
    private func remaining(_ state: NodeState, _ now: Instant) -> UInt64 {
        guard let end = state.identification[endpoint], end > now else { return 0 }
        return UInt64(clamping: ((end - now).wholeNanoseconds + 999_999_999) / 1_000_000_000)
    }
}
