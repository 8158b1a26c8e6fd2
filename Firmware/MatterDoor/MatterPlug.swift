public import Matter
import MatterWire
import Metering
public import PlugModel

/// The plug as a Matter device: the values for its state, the reactions to commands, and the status codes of refusals.
public struct MatterPlug: Hashable, Sendable {
    /// The largest level of Matter's dimmers (Matter 1.6.6.2); the smallest one is 1.
    private static let fullLevel = 254
    /// The limit of a name at a Matter device in bytes (`NodeLabel`, Matter 11.1.5.6).
    private static let nameLimit = 32

    /// The id, which is the serial number.
    public var id: PlugID
    /// The capabilities of the parts.
    public var capabilities: Set<Capability>
    /// The version of the firmware.
    public var firmware: String

    /// Creates the description of a plug.
    public init(_ id: PlugID, capabilities: Set<Capability>, firmware: String) {
        (self.id, self.capabilities, self.firmware) = (id, capabilities, firmware)
    }

    /// The optional clusters of the device.
    public var features: NodeFeatures {
        NodeFeatures(
            dims: capabilities.contains(.dimmer), meters: capabilities.contains(.meter),
            hasButton: capabilities.contains(.button))
    }

    /// The name of the product.
    public var product: String { capabilities.contains(.dimmer) ? "Smart Dimmer" : "Smart Plug" }

    /// The firmware's version as a number that rises with each version: 1.2.3 is 1,002,003.
    public var firmwareNumber: UInt32 {
        let parts = firmware.split(separator: ".").prefix(3).map { min(UInt32($0) ?? 0, 999) }
        return (parts + [0, 0, 0]).prefix(3).reduce(0) { $0 &* 1000 &+ $1 }
    }

    /// Returns a name that is short enough for a Matter device.
    static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > nameLimit { name.removeLast() }
        return name
    }

    // MARK: State

    /// Returns the values for a state. Without a meter's answer, the device keeps its last measurement.
    func values(_ state: PlugState) -> PlugValues {
        PlugValues(
            isOn: state.relayOn,
            level: capabilities.contains(.dimmer) ? state.level.map(Self.level) : nil,
            reading: state.reading.map(Self.values), isTripped: state.tripped != nil)
    }

    /// Returns the level that is nearest to a dim level, from 1 to 254.
    static func level(_ level: DimLevel) -> UInt8 {
        UInt8(clamping: max(1, (Int(level.permille) * fullLevel + 500) / 1000))
    }

    /// Returns the dim level that is nearest to a level from 1 to 254. A level of 255, which is not valid, is 254.
    static func dimLevel(_ level: UInt8) -> DimLevel {
        let permille = (min(Int(level), fullLevel) * 1000 + fullLevel / 2) / fullLevel
        return DimLevel(permille: max(1, permille)) ?? .full
    }

    private static func values(_ reading: Reading) -> PlugValues.Reading {
        PlugValues.Reading(
            power: Int64(reading.deciwatts) * 100, voltage: reading.decivolts.map { Int64($0) * 100 },
            current: reading.milliamperes.map { Int64($0) },
            energy: min(reading.milliwattHours, PlugWire.greatestEnergy))
    }

    /// Returns the gesture for a press.
    static func press(_ press: ButtonPress) -> MatterPress {
        switch press {
        case .single: .single
        case .double: .double
        case .long: .long
        }
    }

    // MARK: Commands

    /// The reaction to a command of a controller.
    enum Reaction: Equatable {
        /// The plug performs a command.
        case perform(PlugCommand)
        /// The plug's light blinks for this time. The plug's own command blinks for a fixed time, so it is repeated.
        case blink(Duration)
        /// The command needs no action of the plug.
        case nothing
        /// The plug cannot perform the command.
        case refuse(InteractionStatusCode)
    }

    /// Returns the reaction to a command.
    ///
    /// - Parameter isOn: true if the load has power. The plug cannot change the level of a load without turning it on.
    func reaction(to command: NodeCommand, isOn: Bool) -> Reaction {
        switch command {
        case .on(let isOn, let offAfter): return .perform(.setRelay(on: isOn, autoOff: isOn ? offAfter : nil))
        case .level(let level, let transition, let withOnOff):
            guard capabilities.contains(.dimmer) else { return .refuse(.unsupportedCommand) }
            guard withOnOff || isOn else { return .refuse(.invalidInState) }
            let transition = min(max(.zero, transition), PlugWire.longestTransition)
            // The lowest level turns the load off (Matter 1.6.4.1.1). The plug keeps its level while it is off.
            let target = withOnOff && level <= 1 ? DimLevel.zero : Self.dimLevel(level)
            return .perform(.setLevel(target, transition: transition))
        case .identify(let time): return time > .zero ? .blink(time) : .nothing
        }
    }
}

extension Refusal.Code {
    /// The status of a command that the plug refused (Matter 8.10.1).
    ///
    /// | refusal | status |
    /// | --- | --- |
    /// | protection tripped, locked on | INVALID_IN_STATE: the command is not possible until the state changes |
    /// | resting, busy | BUSY: the controller may repeat the command |
    /// | not paired, not allowed | UNSUPPORTED_ACCESS |
    /// | unsupported | UNSUPPORTED_COMMAND |
    /// | out of range | CONSTRAINT_ERROR |
    /// | deadline passed | TIMEOUT |
    /// | storage failed | RESOURCE_EXHAUSTED |
    /// | unknown | FAILURE |
    var matterStatus: InteractionStatusCode {
        switch self {
        case .protectionTripped, .lockedOn: .invalidInState
        case .resting, .busy: .busy
        case .notPaired, .notAllowed: .unsupportedAccess
        case .unsupported: .unsupportedCommand
        case .outOfRange: .constraintError
        case .deadlinePassed: .timeout
        case .storageFailed: .resourceExhausted
        case .unknown: .failure
        }
    }
}
