import ConfigurationFiles
import DNSWire
import HostSleep
import Testing

struct KnownMachinesTests {
    private func read(_ text: String) throws(ConfigurationError) -> KnownMachines {
        try KnownMachines(Array(text.utf8), file: "machines.toml")
    }

    @Test("Machines are read in the order of the file, with all their properties") func all() throws {
        let known = try read(
            """
            ["Media Server"]
            mac = "00:11:22:aa:BB:cc"
            address = "192.0.2.7"
            password = "0a:0b:0c:0d:0e:0f"
            interface = "eth0"
            [Desk]
            mac = "00-11-22-33-44-55"
            address = "2001:db8::7"
            """)
        let server = KnownMachine(
            name: "Media Server", card: MACAddress(0, 0x11, 0x22, 0xAA, 0xBB, 0xCC),
            password: WakePassword(bytes: [10, 11, 12, 13, 14, 15]), interface: "eth0", addresses: [.v4(192, 0, 2, 7)])
        #expect(known.machines.first == server)
        #expect(known.machines.map(\.name) == ["Media Server", "Desk"])
        #expect(known.machines.last?.addresses.map(\.description) == ["2001:db8::7"])
        #expect(known.machine("media server") == server)
        #expect(known.machine("Media") == nil)
    }

    @Test(
        "A mistake is reported with its key",
        arguments: [
            ("[A]\naddress = \"192.0.2.7\"", "mac"),
            ("[A]\nmac = \"00:11:22:33:44\"", "mac"),
            ("[A]\nmac = \"00:11:22:33:44:5g\"", "mac"),
            ("[A]\nmac = \"ff:ff:ff:ff:ff:ff\"", "mac"),
            ("[A]\nmac = \"00:11:22:33:44:55\"\naddress = \"media.local\"", "address"),
            ("[A]\nmac = \"00:11:22:33:44:55\"\npassword = \"secret\"", "password"),
            ("[A]\nmac = \"00:11:22:33:44:55\"\ncolour = \"red\"", "colour"),
        ])
    func mistakes(_ text: String, _ key: String) {
        do {
            _ = try read(text)
            Issue.record("accepted: \(text)")
        } catch {
            #expect("\(error)".contains(key))
        }
    }

    @Test("A machine of the file keeps its name and its card when hosts are added") func added() throws {
        var known = try read("[Desk]\nmac = \"00:11:22:33:44:55\"")
        for (name, card) in [("desk", 0x66), ("Other", 0x55), ("NAS", 0x77), ("nas", 0x88), ("", 0x99)] {
            known.add(KnownMachine(name: name, card: MACAddress(0, 0x11, 0x22, 0x33, 0x44, UInt8(card))))
        }
        #expect(known.machines.map(\.name) == ["Desk", "NAS"])
        for number in 0..<300 {
            known.add(
                KnownMachine(name: "\(number)", card: MACAddress(2, 0, 0, 0, UInt8(number / 256), UInt8(number % 256))))
        }
        #expect(known.machines.count == 256)
    }

    @Test("A machine is made from text, without the addresses that cannot be parsed") func fromText() {
        let machine = KnownMachine(
            learned: "nas", card: "02:00:00:00:00:10", addresses: ["192.0.2.7", "nas.local", "::1%"])
        #expect(machine?.card == MACAddress(2, 0, 0, 0, 0, 0x10) && machine?.addresses == [.v4(192, 0, 2, 7)])
        #expect(machine?.isLearned == true)
        for card in ["", "02:00:00:00:00", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "02:00:00:00:00:1g"] {
            #expect(KnownMachine(learned: "nas", card: card, addresses: []) == nil)
        }
    }

    @Test("If two names differ only in capitals, a machine is found only by its exact name") func ambiguous() throws {
        let known = try read("[a]\nmac = \"00:11:22:33:44:55\"\n[A]\nmac = \"00:11:22:33:44:66\"")
        #expect(known.machine("A")?.card == MACAddress(0, 0x11, 0x22, 0x33, 0x44, 0x66))
        let other = try read("[ab]\nmac = \"00:11:22:33:44:55\"\n[AB]\nmac = \"00:11:22:33:44:66\"")
        #expect(other.machine("Ab") == nil)
    }
}
