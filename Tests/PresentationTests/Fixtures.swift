import LinuxSystem
import Metering
import PlugClient
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
let request = RequestID(bytes: [UInt8](repeating: 9, count: 16))!
/// 2026-11-21T09:01:23.456Z
let moment = WallTime(nanosecondsSince1970: 1_795_251_683_456_789_000)

func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

func report(_ update: PlugUpdate, of plug: String = "Lamp") -> PlugReport {
    PlugReport(plug: plug, at: moment, update: update)
}

func event(_ kind: PlugEvent.Kind, _ sequence: SequenceNumber = 12) -> PlugEvent {
    PlugEvent(sequence: sequence, boot: boot, time: at(5), kind: kind)
}

let alternating = AlternatingPower(
    apparentDecivoltAmperes: 605, reactiveDecivars: -35, powerFactorThousandths: 998, millihertz: 49_987)

/// The state of a plug with a lamp of 60.4 W.
func state(
    on: Bool = true, level: Double? = nil, watts: Double? = 60.4, time: Double = 5,
    alternating: AlternatingPower? = nil, tripped: Protection? = nil
) -> PlugState {
    PlugState(
        relayOn: on, level: level.map { DimLevel(percent: $0) },
        reading: watts.map {
            Reading(
                time: at(time), deciwatts: Int32(($0 * 10).rounded()), decivolts: 2301, milliamperes: 263,
                alternating: alternating, milliwattHours: 12_345)
        }, tripped: tripped)
}

let description = PlugDescription.made(boot: boot)

extension PlugDescription {
    /// Makes a description in a session, from the plug's Welcome. `plugTime` is the plug's clock when the controller's
    /// clock is `asked`.
    static func made(boot: BootID, asked: Instant = .zero, plugTime: Instant = .zero) -> PlugDescription {
        let server = PlugServer.Identity(
            id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .dimmer, .meter],
            firmware: "1.2.3", boot: boot)
        var plug = PlugServer(
            identity: server, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
        var session = ControllerSession(name: "Desk")
        let connection = ConnectionID(rawValue: 1)
        _ = plug.handle(.shell(.opened(PlugServer.Opening(connection))), now: plugTime)
        for case .send(let hello) in session.handle(.connected, now: asked) {
            for case .shell(.send(_, let welcome)) in plug.handle(.shell(.received(connection, hello)), now: plugTime) {
                for case .deliver(.welcomed(let description)) in session.handle(.received(welcome), now: asked) {
                    return description
                }
            }
        }
        preconditionFailure("the plug did not answer Hello with Welcome")
    }
}
