import Automation
import PlugModel
import ProtocolCore

/// A plug's relay and dimmer in the virtual house. The relay has the recorded state until a rule commands it. It then
/// has the commanded state until the next recorded switching.
struct VirtualRelay: Sendable {
    var on: Bool
    var level: DimLevel?
    /// The last sequence number. Virtual events have their own numbers, because some never happened in reality.
    private var sequence: SequenceNumber = 0
    /// The time of an automatic turn-off, in milliseconds since 1970; nil if none is due.
    private(set) var autoOff: Int64?

    /// The boot of all virtual events.
    static let boot: BootID = {
        guard let boot = BootID(bytes: [UInt8](repeating: 0x42, count: 16)) else {
            preconditionFailure("sixteen bytes are a boot's identifier")
        }
        return boot
    }()

    init(on: Bool, level: DimLevel? = nil) {
        self.on = on
        self.level = level
    }

    var state: PlugState { PlugState(relayOn: on, level: level) }

    mutating func event(_ kind: PlugEvent.Kind, at milliseconds: Int64) -> PlugEvent {
        sequence += 1
        return PlugEvent(
            sequence: sequence, boot: Self.boot, time: Instant(nanoseconds: 0) + .milliseconds(milliseconds), kind: kind
        )
    }

    /// Carries out a command.
    ///
    /// - Returns: The event for the plug's journal; nil if the relay does not change.
    mutating func carryOut(_ request: CommandRequest, at milliseconds: Int64) -> PlugEvent? {
        let before = on
        switch request.command {
        case .setRelay(let on, let after):
            self.on = on
            autoOff = on ? after.map { milliseconds + $0.wholeNanoseconds / 1_000_000 } : nil
        case .setLevel(let level, _):
            self.level = level
            on = level.permille > 0
        case .identify, .resetProtection, .rename, .configure: break
        }
        guard on != before else { return nil }
        return event(.relayChanged(on: on, cause: .controller(name: "plugctl", request: request.id)), at: milliseconds)
    }

    mutating func turnOffByTimer(at milliseconds: Int64) -> PlugEvent? {
        autoOff = nil
        return switchTo(false, .timer, at: milliseconds)
    }

    /// Applies a recorded switching.
    ///
    /// - Returns: The event; nil if the virtual relay already has this state.
    mutating func switchTo(_ on: Bool, _ cause: RelayCause, at milliseconds: Int64) -> PlugEvent? {
        if !on { autoOff = nil }
        guard on != self.on else { return nil }
        self.on = on
        return event(.relayChanged(on: on, cause: cause), at: milliseconds)
    }
}
