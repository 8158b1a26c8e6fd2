import LinuxSystem
import Metering
import PlugClient
import ProtocolCore

@testable import Dashboard
import PlugModel

/// 2026-11-21T09:01:23.456Z
let moment = WallTime(nanosecondsSince1970: 1_795_251_683_456_000_000)
let lampID = PlugID(rawValue: "0123456789ab")!
let kettleID = PlugID(rawValue: "00000000cafe")!
let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!

func connected(_ id: PlugID = lampID, _ capabilities: Set<Capability> = [.relay, .dimmer, .meter]) -> PlugUpdate {
    .connected(
        PlugDescription(
            id: id, name: "what it says", capabilities: capabilities, firmware: "1.2.3", boot: boot,
            clock: ClockMapping(boot: boot, plugTime: .zero, asked: .zero, answered: .zero)))
}

func state(on: Bool = true, level: Double? = nil, watts: Double? = 60.4, tripped: Protection? = nil) -> PlugState {
    PlugState(
        relayOn: on, level: level.map { DimLevel(percent: $0) },
        reading: watts.map {
            Reading(
                time: .zero, deciwatts: Int32(($0 * 10).rounded()), decivolts: 2301, milliamperes: 263,
                milliwattHours: 12_345)
        }, tripped: tripped)
}

func event(_ sequence: SequenceNumber, _ kind: PlugEvent.Kind = .buttonPressed(.single)) -> PlugUpdate {
    .event(PlugEvent(sequence: sequence, boot: boot, time: .zero, kind: kind), age: .milliseconds(20))
}

extension HouseBoard {
    /// Handles an update of a plug, and returns the messages for the stream.
    mutating func hear(_ update: PlugUpdate, of plug: String = "Lamp", after: Duration = .zero) -> [StreamMessage] {
        handle(.report(PlugReport(plug: plug, at: moment + after, update: update)))
    }
}

extension StreamMessage {
    var plug: String? {
        switch self {
        case .plug(let record): record.plug
        case .gone(let plug): plug
        case .event(let record): record.plug
        case .house, .readings, .rule, .rules, .ruleSet, .notification: nil
        }
    }
}
