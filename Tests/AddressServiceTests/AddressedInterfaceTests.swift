import AddressConfiguration
import DNSWire
import LinuxNetwork
import Logging
import NIOCore
import PlugModel
import TestSupport
import Testing

@testable import AddressService

@Suite(
    "Addresses in a network namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct AddressedInterfaceTests {
    private let host = MadeUpHost()

    private func addressing(_ network: PrivateNetwork, _ mode: AddressingMode = .auto) -> Addressing {
        let settings = Addressing.Settings(
            mode: mode, interfaces: ["eth7"], stateDirectory: host.root + "/state",
            runtimeDirectory: host.root + "/run", plug: PlugID(rawValue: "0123456789ab")!)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Addressing(settings, host: HostFiles(root: host.root), on: network.eventLoop, logger: logger)
    }

    /// Starts the addressing and returns a stream of the lists of networks that it reports.
    private func lists(_ addressing: Addressing) async -> AsyncStream<[PlugNetwork]> {
        let (lists, told) = AsyncStream<[PlugNetwork]>.makeStream()
        await addressing.tell { told.yield($0) }
        await addressing.start()
        return lists
    }

    private func first(
        of lists: AsyncStream<[PlugNetwork]>, where isMeant: (PlugNetwork) -> Bool
    ) async throws -> PlugNetwork {
        for await list in lists {
            if let network = list.first, isMeant(network) { return network }
        }
        throw CancellationError()
    }

    private func kernelAnswers(_ network: PrivateNetwork) async throws -> String? {
        try await network.eventLoop.submit { KernelSetting.read(.ignoredARP, of: "eth7") }.get()
    }

    @Test(
        "A disabled interface is enabled, claims a link-local address and keeps it across a restart",
        .timeLimit(.minutes(1)))
    func linkLocal() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        // Both ends of the link belong to this host. By default, the kernel would answer ARP requests for the address
        // of one end at the other end, and the plug would detect a conflict.
        try await network.eventLoop.submit {
            var setting = KernelSetting(.ignoredARP)
            #expect(setting.set("8", on: "other") == nil)
        }.get()
        try await network.ip("link set other up")
        let before = addressing(network)
        let lists = await lists(before)
        let claimed = try await first(of: lists) { $0.linkLocal != nil }
        let address = try #require(claimed.linkLocal)
        #expect(address.hasPrefix("169.254."))
        #expect(claimed.isManaged && claimed.reason == "\(RoleReason.nobodyElse)")
        #expect(claimed.conflicts == 0 && claimed.lease == nil)
        _ = try await first(of: lists) { $0.addresses.contains(address) }
        #expect(try await kernelAnswers(network) == "8")
        #expect(host.text("/state/networks")?.contains(address) == true)
        await before.stop()
        #expect(try await kernelAnswers(network) == "0")
        // The stop leaves the address on the interface, with the plug's mark.
        try await network.wait(for: ["eth7"]) {
            $0[0].addresses.contains { $0.origin == .plug && "\($0.bytes)" == "\(bytes(of: address))" }
        }
        let after = addressing(network)
        let again = try await first(of: await self.lists(after)) { $0.linkLocal != nil }
        #expect(again.linkLocal == address)
        await after.stop()
    }

    @Test("An interface with a manually configured address is only observed", .timeLimit(.minutes(1)))
    func observed() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.ip("link set other up")
        try await network.ip("addr add 192.0.2.7/24 dev eth7")
        let addressing = addressing(network)
        let seen = try await first(of: await lists(addressing)) { _ in true }
        #expect(!seen.isManaged && seen.reason == "\(RoleReason.foreignAddress("192.0.2.7"))")
        #expect(seen.addresses == ["192.0.2.7"])
        await addressing.stop()
        try await network.wait(for: ["eth7"]) { !$0[0].flags.contains(.up) }
    }

    @Test("A program that later adds an address takes over the interface", .timeLimit(.minutes(1)))
    func handedOver() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.ip("link set other up")
        let addressing = addressing(network)
        let (lists, told) = AsyncStream<[PlugNetwork]>.makeStream()
        await addressing.tell { told.yield($0) }
        await addressing.start()
        var list = lists.makeAsyncIterator()
        func wait(_ isMeant: (PlugNetwork) -> Bool) async {
            while let next = await list.next() { if let first = next.first, isMeant(first) { return } }
        }
        await wait { $0.linkLocal != nil }
        try await network.ip("addr add 192.0.2.7/24 dev eth7")
        await wait { !$0.isManaged && $0.reason == "\(RoleReason.foreignAddress("192.0.2.7"))" }
        await wait { !$0.addresses.contains { $0.hasPrefix("169.254.") } }
        #expect(try await kernelAnswers(network) == "0")
        await addressing.stop()
    }

    @Test("An interface that disappears and returns is managed again", .timeLimit(.minutes(1)))
    func replaced() async throws {
        let network = try await PrivateNetwork()
        let addressing = addressing(network)
        let (lists, told) = AsyncStream<[PlugNetwork]>.makeStream()
        await addressing.tell { told.yield($0) }
        await addressing.start()
        var list = lists.makeAsyncIterator()
        func wait(_ isMeant: ([PlugNetwork]) -> Bool) async {
            while let next = await list.next() { if isMeant(next) { return } }
        }
        for _ in 0..<2 {
            try await network.ip("link add eth7 type veth peer name other")
            await wait { $0.first?.isManaged == true }
            try await network.ip("link del eth7")
            await wait { $0.isEmpty }
        }
        await addressing.stop()
    }

    @Test(
        "Disabled IPv6 is enabled while the plug manages the interface, and restored afterwards",
        .timeLimit(.minutes(1)))
    func linkLocalIPv6() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.ip("link set other up")
        try await network.eventLoop.submit {
            var setting = KernelSetting(.disableIPv6)
            #expect(setting.set("1", on: "eth7") == nil)
        }.get()
        let addressing = addressing(network)
        _ = try await first(of: await lists(addressing)) { $0.addresses.contains { $0.hasPrefix("fe80::") } }
        await addressing.stop()
        let setting = try await network.eventLoop.submit { KernelSetting.read(.disableIPv6, of: "eth7") }.get()
        #expect(setting == "1")
    }

    @Test("If the kernel creates no link-local IPv6 address, the plug adds one", .timeLimit(.minutes(1)))
    func stableIdentifier() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.ip("link set other up")
        try await network.ip("link set eth7 addrgenmode none")
        let addressing = addressing(network)
        let seen = try await first(of: await lists(addressing)) { $0.addresses.contains { $0.hasPrefix("fe80::") } }
        await addressing.stop()
        let store = AddressStore(directory: host.root + "/state", logger: Logger(label: "test"))
        let expected = IPv6StableIdentifier.linkLocalAddress(interface: "eth7", attempt: 0, secret: store.secret)
        #expect(seen.addresses.contains("\(expected)"))
    }

    private func bytes(of address: String) -> [UInt8] { address.split(separator: ".").compactMap { UInt8($0) } }
}

@Suite("DHCP client identifier")
struct ClientIdentifierTests {
    @Test("The identifier contains the plug's id and differs between interfaces")
    func bytes() {
        let plug = PlugID(rawValue: "0123456789ab")!
        let bytes = ClientIdentifier.bytes(plug: plug, interface: "eth0")
        #expect(bytes.count == 23)
        #expect(bytes[0] == 255)
        // FNV-1a of "eth0", computed independently.
        #expect(Array(bytes[1..<5]) == [0x67, 0xB1, 0x97, 0x24])
        #expect(Array(bytes[5..<7]) == [0, 4])
        #expect(Array(bytes[7...]) == Array("smartp".utf8) + [0x8C, 0x75, 0xA7, 0x2D, 1, 0x23, 0x45, 0x67, 0x89, 0xAB])
        #expect(ClientIdentifier.bytes(plug: plug, interface: "eth1")[1..<5] != bytes[1..<5])
    }
}
