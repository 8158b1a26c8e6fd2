import DNSWire
import Doctor
import LinuxNetwork
import LinuxSystem
import PlugModel
import ProtocolCore

let lampID = PlugID(rawValue: "0123456789ab")!

/// 2026-11-21T09:01:23.456Z
let moment = ClockState(
    wall: WallTime(nanosecondsSince1970: 1_795_251_683_456_789_000), sinceBoot: Instant(nanoseconds: 1_000_000_000),
    isSynchronized: true)

func interface(
    _ name: String, _ flags: LinuxInterface.Flags = [.up, .running, .multicast], _ addresses: [UInt8]...,
    index: Int32 = 2,
    isUsable: Bool = true
) -> LinuxInterface {
    LinuxInterface(
        index: index, name: name, flags: flags,
        addresses: addresses.map { LinuxAddress(bytes: $0, prefixLength: 24, state: isUsable ? .usable : .tentative) })
}

let linkLocalV6: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]

/// A house without problems: one interface, another host that was heard, and one plug that is paired and connected.
func healthy(filter: InterfaceFilter = .multicastCapable) -> Observations {
    var seen = Observations(filter: filter, clock: .init(first: moment, last: moment), wait: .seconds(3))
    seen.interfaces = [interface("eth0", [.up, .running, .multicast], [192, 0, 2, 1], linkLocalV6)]
    seen.links = [link()]
    seen.services = [service()]
    seen.plugs = [plug(.connected(roundTrip: .microseconds(1234)))]
    return seen
}

func link(_ interface: String = "eth0", _ family: IPFamily = .v4, others: Set<IPAddress> = [.v4(192, 0, 2, 7)])
    -> Observations.Link
{
    var link = Observations.Link(interface: interface, family: family)
    link.isMember = true
    link.own = 2
    link.others = others
    return link
}

func service(_ name: String = "Lamp", id: PlugID? = lampID, isPaired: Bool = true) -> Observations.Service {
    .init(
        name: name, interfaces: ["eth0"], id: id, version: "1", isPaired: isPaired,
        place: .init(host: "plug-6789ab.local", port: 40_123, addresses: [.v4(192, 0, 2, 7)]))
}

func plug(_ outcome: Observations.Plug.Outcome, announcedAs name: String? = "Lamp") -> Observations.Plug {
    .init(name: "Lamp", id: lampID, announcedAs: name, outcome: outcome)
}

extension IPAddress {
    static func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> IPAddress { .v4(IPv4Address(a, b, c, d)) }
}
