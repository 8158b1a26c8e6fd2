import LinuxNetwork
import Testing

@testable import AddressService

@Suite("Addressing role")
struct AddressingRoleTests {
    private let host = MadeUpHost()
    private var files: HostFiles { HostFiles(root: host.root) }
    private var facts = AddressingRole.Facts(
        mode: .auto,
        interface: LinuxInterface(
            index: 3, name: "eth0", flags: [.up, .running, .multicast], hardwareAddress: [2, 0, 0, 0, 0, 1]))

    private func decide(_ change: (inout AddressingRole.Facts) -> Void) -> AddressingRole {
        var facts = facts
        change(&facts)
        return AddressingRole.decide(facts)
    }

    private func observed(_ reason: RoleReason) -> AddressingRole { AddressingRole(isManaged: false, reason: reason) }
    private func managed(_ reason: RoleReason) -> AddressingRole { AddressingRole(isManaged: true, reason: reason) }

    @Test("A network card that no other program manages is managed by the plug")
    func alone() {
        #expect(decide { _ in } == managed(.nobodyElse))
    }

    @Test("Loopback and interfaces without Ethernet addresses are never managed")
    func neverManaged() {
        for mode in AddressingMode.allCases {
            #expect(
                decide {
                    $0.mode = mode
                    $0.interface.flags.insert(.loopback)
                } == observed(.loopback))
            #expect(
                decide {
                    $0.mode = mode
                    $0.interface.hardwareAddress = []
                } == observed(.notEthernet))
        }
    }

    @Test("The requested mode applies if the process has the capabilities")
    func asked() {
        let manager = RoleReason.manager(.dhcpcd, evidence: "/run/dhcpcd/pid")
        #expect(decide { ($0.mode, $0.manager) = (.manage, manager) } == managed(.asked))
        #expect(decide { $0.mode = .observe } == observed(.asked))
        let missing = ["CAP_NET_ADMIN", "CAP_NET_RAW"]
        #expect(
            decide { ($0.mode, $0.missingCapabilities) = (.manage, missing) }
                == observed(.unprivileged(missing: missing)))
        #expect(
            decide { $0.missingCapabilities = ["CAP_NET_RAW"] } == observed(.unprivileged(missing: ["CAP_NET_RAW"])))
    }

    @Test("An address of a different program prevents management, an address of the plug or the kernel does not")
    func addresses() {
        func address(_ bytes: [UInt8], _ origin: LinuxAddress.Origin = .unknown) -> LinuxAddress {
            LinuxAddress(bytes: bytes, prefixLength: 24, origin: origin)
        }
        let linkLocal = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        let global = [0x20, 0x01] + [UInt8](repeating: 0, count: 13) + [1]
        #expect(
            decide { $0.interface.addresses = [address([192, 0, 2, 7])] } == observed(.foreignAddress("192.0.2.7")))
        #expect(decide { $0.interface.addresses = [address(global)] } == observed(.foreignAddress("2001::1")))
        #expect(
            decide {
                $0.interface.addresses = [
                    address([192, 0, 2, 7], .plug), address([192, 0, 2, 8]), address(linkLocal),
                    address(global, .kernel),
                ]
                $0.remembered = [[192, 0, 2, 8]]
            } == managed(.nobodyElse))
    }

    @Test("An interface that is not a network card is managed only if the user named it")
    func hardware() throws {
        #expect(decide { $0.isHardware = false } == observed(.notHardware))
        #expect(decide { ($0.isHardware, $0.isNamed) = (false, true) } == managed(.nobodyElse))
        #expect(!files.isHardware("eth0"))
        try host.directory("/sys/class/net/eth0/device")
        #expect(files.isHardware("eth0"))
    }

    @Test("NetworkManager manages a device unless the device's file has managed=false")
    func networkManager() throws {
        #expect(files.manager(of: "eth0", index: 3) == nil)
        try host.directory("/run/NetworkManager/devices")
        let folder = RoleReason.manager(.networkManager, evidence: "/run/NetworkManager")
        #expect(files.manager(of: "eth0", index: 3) == folder)
        try host.write("[device]\nmanaged=true\n", to: "/run/NetworkManager/devices/3")
        let device = RoleReason.manager(.networkManager, evidence: "/run/NetworkManager/devices/3")
        #expect(files.manager(of: "eth0", index: 3) == device)
        #expect(decide { $0.manager = device } == observed(device))
        try host.write("[device]\nmanaged=false\n", to: "/run/NetworkManager/devices/3")
        #expect(files.manager(of: "eth0", index: 3) == nil)
    }

    @Test("The state file of a link shows whether systemd-networkd manages the link")
    func networkd() throws {
        try host.write("ADMIN_STATE=unmanaged\nOPER_STATE=routable\n", to: "/run/systemd/netif/links/3")
        #expect(files.manager(of: "eth0", index: 3) == nil)
        try host.write("ADMIN_STATE=configuring\nOPER_STATE=carrier\n", to: "/run/systemd/netif/links/3")
        let reason = RoleReason.manager(.networkd, evidence: "/run/systemd/netif/links/3")
        #expect(files.manager(of: "eth0", index: 3) == reason)
        #expect(files.manager(of: "eth1", index: 4) == nil)
    }

    @Test("dhcpcd is detected by its running process, for the host or for the interface")
    func dhcpcd() throws {
        for path in ["/run/dhcpcd/pid", "/run/dhcpcd/eth0-4.pid", "/run/dhcpcd-eth0.pid"] {
            let host = MadeUpHost()
            let files = HostFiles(root: host.root) { $0 == 17 }
            try host.write("18\n", to: path)
            #expect(files.manager(of: "eth0", index: 3) == nil)
            try host.write("17\n", to: path)
            #expect(files.manager(of: "eth0", index: 3) == .manager(.dhcpcd, evidence: path))
        }
        try host.write("17\n", to: "/run/dhcpcd-eth1.pid")
        #expect(HostFiles(root: host.root) { $0 == 17 }.manager(of: "eth0", index: 3) == nil)
    }

    @Test("connman manages all interfaces")
    func connman() throws {
        try host.directory("/run/connman")
        #expect(files.manager(of: "eth0", index: 3) == .manager(.connman, evidence: "/run/connman"))
    }

    @Test("Missing capabilities are read from /proc/self/status")
    func capabilities() throws {
        #expect(files.missingCapabilities == [])
        try host.write("Name:\tplugd\nCapEff:\t0000000000003000\n", to: "/proc/self/status")
        #expect(files.missingCapabilities == [])
        try host.write("Name:\tplugd\nCapEff:\t0000000000001000\n", to: "/proc/self/status")
        #expect(files.missingCapabilities == ["CAP_NET_RAW"])
        try host.write("Name:\tplugd\nCapEff:\t0000000000000000\n", to: "/proc/self/status")
        #expect(files.missingCapabilities == ["CAP_NET_ADMIN", "CAP_NET_RAW"])
    }

    @Test(
        "Each reason has a description",
        arguments: [
            (RoleReason.asked, "set by --addressing"),
            (.manager(.networkd, evidence: "/run/x"), "systemd-networkd manages it, according to /run/x"),
            (.foreignAddress("192.0.2.7"), "another program assigned the address 192.0.2.7"),
            (
                .unprivileged(missing: ["CAP_NET_ADMIN", "CAP_NET_RAW"]),
                "plugd runs without CAP_NET_ADMIN and CAP_NET_RAW"
            ),
        ])
    func sentences(_ reason: RoleReason, _ text: String) {
        #expect("\(reason)" == text)
    }
}
