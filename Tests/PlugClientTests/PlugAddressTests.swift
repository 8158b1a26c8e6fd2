import LinuxSystem
import PlugModel
import ServiceDiscovery
import TestSupport
import Testing

@testable import PlugClient

@Suite struct PlugAddressTests {
    @Test(
        "A host name or an IP address is parsed with its port",
        arguments: [
            ("lamp.example.org", "lamp.example.org", 7001), ("lamp:1", "lamp", 1),
            ("192.0.2.7:65535", "192.0.2.7", 65_535), ("192.0.2.7", "192.0.2.7", 7001),
            ("[2001:db8::7]:4711", "2001:db8::7", 4711),
            ("[2001:db8::7]", "2001:db8::7", 7001), ("2001:db8::7", "2001:db8::7", 7001),
            ("[fe80::7%eth0]:4711", "fe80::7%eth0", 4711), ("a_b-1.example.", "a_b-1.example.", 7001),
        ] as [(String, String, UInt16)])
    func valid(text: String, host: String, port: UInt16) throws {
        let address = try PlugAddress(text)
        #expect(address.host == host && address.port == port)
        #expect(try PlugAddress("\(address)") == address, "the description is parsed again")
    }

    @Test(
        "Invalid text is rejected with its reason",
        arguments: [
            ("", .empty), (":7001", .empty), ("https://lamp", .path("https://lamp")),
            ("10.0.0.0/8", .path("10.0.0.0/8")),
            ("[2001:db8::7", .openBracket("[2001:db8::7")), ("[2001:db8::7]7001", .afterBracket("7001")),
            ("[lamp]:1", .ipv6("lamp")), ("[]:1", .ipv6("")), ("lamp:", .port("")), ("lamp:0", .port("0")),
            ("lamp:65536", .port("65536")), ("lamp:+1", .port("+1")), ("lamp:-1", .port("-1")),
            ("lamp:http", .port("http")),
            ("300.0.2.7", .ipv4("300.0.2.7")), ("10.1", .ipv4("10.1")), ("10", .ipv4("10")), ("1:2:3", .ipv6("1:2:3")),
            ("fe80::7", .zone("fe80::7")), ("2001:db8::7%eth0", .ipv6("2001:db8::7%eth0")),
            ("fe80::7%", .ipv6("fe80::7%")),
            ("Living Room", .name("Living Room")), ("-lamp", .name("-lamp")), ("a..b", .name("a..b")),
            ("l\u{e4}mp.example", .name("l\u{e4}mp.example")), ("lamp\n", .name("lamp\n")),
        ] as [(String, PlugAddressError)])
    func invalid(text: String, reason: PlugAddressError) {
        let error = #expect(throws: PlugAddressError.self) { try PlugAddress(text) }
        #expect(error == reason)
    }

    @Test("A host name has at most 253 bytes, and a label at most 63") func lengths() throws {
        let label = String(repeating: "x", count: 63)
        let longest = [label, label, label, String(repeating: "y", count: 61)].joined(separator: ".")
        #expect(try PlugAddress(longest).host == longest)
        #expect(throws: PlugAddressError.name(longest + "z")) { try PlugAddress(longest + "z") }
        #expect(throws: PlugAddressError.name(label + "x")) { try PlugAddress(label + "x") }
    }

    @Test("Changes of the stored addresses are reported like announcements") func announcements() throws {
        let (lamp, fan) = (PlugID(rawValue: "000000000001")!, PlugID(rawValue: "000000000002")!)
        func found(_ name: String, _ id: PlugID) -> ServiceChange {
            .found(PlugAddress.identity(of: name), txt: TXTRecord(plug: id))
        }
        let (first, second) = (try PlugAddress("192.0.2.7"), try PlugAddress("192.0.2.8"))
        func place(_ name: String, _ address: PlugAddress) -> AddressedPlugs.Place {
            AddressedPlugs.Place(name: name, address: address)
        }
        var plugs = AddressedPlugs()
        #expect(plugs.update([:]) == [])
        let both = [lamp: place("Lamp", first), fan: place("Fan", first)]
        #expect(plugs.update(both) == [found("Lamp", lamp), found("Fan", fan)])
        #expect(plugs.update(both) == [])
        let lost = ServiceChange.lost(PlugAddress.identity(of: "Lamp"))
        #expect(
            plugs.update([lamp: place("Lounge", first), fan: place("Fan", first)]) == [lost, found("Lounge", lamp)])
        #expect(
            plugs.update([lamp: place("Lounge", second), fan: place("Fan", first)]) == [found("Lounge", lamp)],
            "a new address")
        #expect(plugs.update([lamp: place("Lounge", second)]) == [.lost(PlugAddress.identity(of: "Fan"))])
        #expect(TXTRecord(plug: lamp).plugID == lamp)
        #expect(!PlugAddress.identity(of: "Lamp").isLocal)
    }
}

/// The file with the addresses of paired plugs.
@Suite struct StoredAddressTests {
    private let folder = TestFolder()
    private var plugs: PairedPlugs { PairedPlugs(directory: folder.path) }
    private let lamp = PairedPlugs.Entry(id: PlugID(rawValue: "0123456789ab")!, key: .plug, name: "Lamp")
    private let fan = PairedPlugs.Entry(id: PlugID(rawValue: "ffffffffffff")!, key: .stranger, name: "Fan")

    @Test("An address is stored for a paired plug, replaced, and removed with the plug") func stored() async throws {
        let (first, second) = (try PlugAddress("192.0.2.7"), try PlugAddress("[2001:db8::7]:4711"))
        #expect(try plugs.addresses().isEmpty)
        try await plugs.setAddress(first, of: lamp.id)
        #expect(try plugs.addresses().isEmpty, "the plug is not paired")
        try await plugs.add(lamp)
        try await plugs.add(fan)
        try await plugs.setAddress(first, of: lamp.id)
        try await plugs.setAddress(first, of: fan.id)
        try await plugs.setAddress(second, of: lamp.id)
        #expect(try plugs.addresses() == [lamp.id: second, fan.id: first])
        #expect(
            try AddressedPlugs.read(plugs) == [
                lamp.id: .init(name: "Lamp", address: second), fan.id: .init(name: "Fan", address: first),
            ])
        #expect(try plugs.all() == [lamp, fan], "the list of paired plugs is unchanged")
        try await plugs.setAddress(nil, of: fan.id)
        #expect(try plugs.addresses() == [lamp.id: second])
        try await plugs.remove(lamp.id)
        #expect(try plugs.addresses().isEmpty)
    }

    @Test("The address at which a plug was last reached is stored if it is new, or after an hour")
    func recent() async throws {
        let (first, second) = (try PlugAddress("192.0.2.7:4711"), try PlugAddress("192.0.2.8:4711"))
        let begin = WallTime(millisecondsSince1970: 1_790_000_000_000)
        func note(_ address: PlugAddress, after time: Duration) throws -> RecentAddress? {
            try plugs.note(RecentAddress(address: address, time: begin + time), of: lamp.id)
            return plugs.recentAddresses()[lamp.id]
        }
        #expect(try note(first, after: .zero) == nil, "the plug is not paired")
        try await plugs.add(lamp)
        #expect(try note(first, after: .zero) == RecentAddress(address: first, time: begin))
        #expect(try note(first, after: .seconds(3599))?.time == begin)
        #expect(try note(first, after: .seconds(3600))?.time == begin + .seconds(3600))
        #expect(try note(first, after: .seconds(60))?.time == begin + .seconds(60), "the clock was set back")
        #expect(try note(second, after: .seconds(61))?.address == second)
        #expect(try plugs.addresses().isEmpty, "the user stored no address")
    }

    @Test("Damaged lines of recent addresses are ignored, and the next write removes them")
    func damagedRecent() async throws {
        try await plugs.add(lamp)
        let lines = [
            "", "x", "0123456789ab 1 192.0.2.7:0", "0123456789ab -1 192.0.2.7:1",
            "0123456789ab 99999999999 192.0.2.7:1",
            "ffffffffffff 1 192.0.2.9:1",
        ]
        try FileStore().replaceSecret(
            folder.path + "/recent-addresses", with: Array(lines.joined(separator: "\n").utf8) + [0xFF])
        #expect(plugs.recentAddresses()[lamp.id] == nil)
        let address = RecentAddress(
            address: try PlugAddress("192.0.2.7:1"), time: WallTime(millisecondsSince1970: 5000))
        try plugs.note(address, of: lamp.id)
        #expect(plugs.recentAddresses() == [lamp.id: address])
    }

    @Test("A damaged line is reported with its number, and the list stays usable") func damaged() async throws {
        try await plugs.add(lamp)
        for line in ["0123456789ab", "0123456789ab 192.0.2.7:0", "lamp 192.0.2.7:1", "0123456789ab 192.0.2.7:1 x"] {
            try FileStore().replaceSecret(folder.path + "/addresses", with: Array("\n\(line)\n".utf8))
            let error = #expect(throws: PairedPlugsError.self) { try plugs.addresses() }
            #expect(error == .damagedAddress(path: folder.path + "/addresses", line: 2))
        }
        #expect(try plugs.all() == [lamp])
        try FileStore().replaceSecret(folder.path + "/addresses", with: Array("0123456789ab 192.0.2.7:1".utf8))
        #expect(try plugs.addresses() == [lamp.id: try PlugAddress("192.0.2.7:1")])
    }
}
