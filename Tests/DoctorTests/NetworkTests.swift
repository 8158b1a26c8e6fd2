import Doctor
import LinuxNetwork
import Testing

/// Findings about interfaces, the port and multicast.
@Suite struct NetworkTests {
    private func found(_ subject: Finding.Subject, _ seen: Observations) -> [Finding] {
        Diagnosis.findings(seen).filter { $0.subject == subject }
    }

    private func interfaces(
        _ interfaces: [LinuxInterface], _ filter: InterfaceFilter = .multicastCapable
    ) -> [Finding] {
        var seen = healthy(filter: filter)
        seen.interfaces = interfaces
        return found(.interface, seen)
    }

    @Test("A house without problems has only findings of level ok") func aHealthyHouse() {
        #expect(
            Diagnosis.findings(healthy()) == [
                Finding(.ok, .interface, "eth0", "192.0.2.1, fe80::1"),
                Finding(.ok, .port, "no other program on this host uses UDP port 5353"),
                Finding(.ok, .multicast, "eth0", "packets received from 192.0.2.7"),
                Finding(.ok, .service, "Lamp", "at plug-6789ab.local port 40123, 192.0.2.7, on eth0"),
                Finding(.ok, .clock, "it shows 2026-11-21T09:01:23.456Z and is synchronized"),
                Finding(.ok, .plug, "Lamp", "its key matches the pinned key, and it answers in 1.2 ms"),
            ])
    }

    @Test("A host without a network interface has a problem") func noInterface() {
        let only = interfaces([interface("lo", [.up, .running, .loopback], [127, 0, 0, 1], index: 1)])
        #expect(only.map(\.level) == [.problem])
        #expect(only[0].what == "this host has no network interface")
    }

    @Test(
        "An unusable interface is a problem if there is no other interface",
        arguments: [
            (interface("eth0", [.multicast]), "it is switched off", "ip link set eth0 up"),
            (interface("eth0", [.up, .multicast]), "it has no link", "connect it"),
            (
                interface("eth0", [.up, .running], [192, 0, 2, 1]), "multicast is disabled",
                "ip link set eth0 multicast on"
            ),
            (
                interface("eth0"), "it has no address to send from",
                "check the DHCP server, or enable IPv6 with its link-local addresses"
            ),
            (
                interface("eth0", [.up, .running, .multicast], linkLocalV6, isUsable: false),
                "its addresses are not usable yet",
                "wait some seconds; `ip address show eth0` shows \"dadfailed\" if another host has the address"
            ),
        ])
    func unusable(interface: LinuxInterface, what: String, next: String) {
        let findings = interfaces([interface])
        #expect(findings.map(\.level) == [.problem])
        #expect(findings[0].about == "eth0" && findings[0].what == what && findings[0].next == next)
    }

    @Test("If one interface works, only unusual states of the others are reported")
    func besideOneThatWorksOnlyWhatIsOddIsTold() {
        let others = [
            interface("eth0", [.up, .running, .multicast], [192, 0, 2, 1]), interface("eth1", [.multicast], index: 3),
            interface("eth2", [.up, .multicast], index: 4), interface("eth3", [.up, .running], index: 5),
            interface("wg0", [.up, .running, .pointToPoint], [10, 0, 0, 1], index: 6),
        ]
        #expect(interfaces(others).map(\.about) == ["eth0", "eth3"])
        #expect(interfaces(others).map(\.level) == [.ok, .warning])
        // An interface that the user named is required.
        #expect(interfaces(others, .named(["eth0", "eth2"])).map(\.level) == [.ok, .problem])
    }

    @Test("A named interface that is missing is a problem") func anInterfaceThatIsNamedAndMissing() {
        let findings = interfaces(healthy().interfaces, .named(["eth7"]))
        #expect(
            findings == [
                Finding(
                    .problem, .interface, "eth7", "this host has no interface with this name",
                    next: "use one of eth0 with --interface or SMARTPLUG_INTERFACE")
            ])
    }

    @Test("An interface with only link-local addresses is a warning, unless another one has a routable address")
    func linkLocalAddressesAreEnoughAndWorthAWord() {
        let alone = interfaces([interface("eth0", [.up, .running, .multicast], [169, 254, 3, 4], linkLocalV6)])
        #expect(alone.map(\.level) == [.warning])
        #expect(alone[0].what == "only link-local addresses: 169.254.3.4, fe80::1")
        let beside = interfaces([
            interface("eth0", [.up, .running, .multicast], [192, 0, 2, 1]),
            interface("veth1", [.up, .running, .multicast], linkLocalV6, index: 3),
        ])
        #expect(beside.map(\.level) == [.ok, .ok])
    }

    @Test("Other programs that have the port open are listed") func whoElseHasThePortOpen() {
        var seen = healthy()
        seen.portHolders = [
            PortHolder(process: .init(id: 412, name: "avahi-daemon"), user: 108), PortHolder(process: nil, user: 1000),
        ]
        let finding = found(.port, seen)[0]
        #expect(finding.level == .ok)
        #expect(finding.what == "also used by other programs: avahi-daemon (process 412), a program of user 1000")
        #expect(finding.next == "run `plugctl doctor` as root to show their names")
        seen.portHolders.removeLast()
        #expect(found(.port, seen)[0].next == nil)
    }

    @Test("A port that cannot be opened is a problem") func aPortThatCannotBeOpened() {
        var seen = healthy()
        seen.links[0].fault = "bind: Address already in use"
        seen.links[0].own = 0
        let alone = found(.multicast, seen)
        #expect(alone.map(\.level) == [.problem])
        #expect(alone[0].about == "eth0, IPv4")
        #expect(alone[0].what == "cannot open port 5353: bind: Address already in use")
        #expect(alone[0].why == nil)
        seen.portHolders = [PortHolder(process: .init(id: 7, name: "mdnsd"), user: 0)]
        #expect(found(.multicast, seen)[0].why == "other programs use it: mdnsd (process 7)")
        #expect(found(.multicast, seen)[0].next?.hasPrefix("stop that program") == true)
    }

    @Test("Missing multicast membership and packets are reported per address family") func whatIsMissingOfMulticast() {
        var seen = healthy()
        seen.links = [link("eth0", .v4, others: []), link("eth0", .v6, others: [])]
        seen.links[0].own = 0
        seen.links[1].isMember = false
        #expect(
            found(.multicast, seen).map(\.what) == [
                "this host does not receive its own packets", "this host is not a member of ff02::fb",
            ])
        // The second family has no fault now, so only its missing packets from other hosts are reported.
        seen.links[1].isMember = nil
        let findings = found(.multicast, seen)
        #expect(findings.map(\.level) == [.problem, .warning])
        #expect(findings[1].what == "no packets from other hosts within 3 s")
        // If another interface hears hosts, a silent interface is ok. It may belong to containers, for example.
        seen.links.append(link("wlan0"))
        #expect(found(.multicast, seen).map(\.level) == [.problem, .ok, .ok])
    }

    @Test("A long list of hosts is shortened") func aNetworkOfHundredsIsListedShort() {
        var seen = healthy()
        seen.links[0].others = Set((0..<200).map { .v4(192, 0, 2, UInt8($0)) })
        #expect(found(.multicast, seen)[0].what.hasSuffix(" and 192 more"))
    }

    @Test("The loopback interface needs no packets from other hosts") func loopbackHasOnlyThisHost() {
        var seen = healthy(filter: .named(["lo"]))
        seen.links = [link("lo", .v4, others: [])]
        seen.links[0].isLoopback = true
        #expect(
            found(.multicast, seen) == [
                Finding(.ok, .multicast, "lo", "programs on this host receive each other's packets")
            ])
    }
}
