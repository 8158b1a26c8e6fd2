import DNSWire
import Glibc
import Logging
import NIOCore
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Changing interfaces in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct RouteControlTests {
    private let address = LinuxAddress(
        bytes: [169, 254, 7, 8], prefixLength: 16, origin: .plug, isDeprecated: true)

    /// Runs the body on the event loop, whose thread is in the namespace, with the index of eth7.
    private func control<Value: Sendable>(
        _ network: PrivateNetwork, _ body: @escaping @Sendable (RouteControl, Int32) throws -> Value
    ) async throws -> Value {
        try await network.eventLoop.submit { try body(RouteControl(), Int32(if_nametoindex("eth7"))) }.get()
    }

    @Test("A link is turned on, and an address is added, changed and removed", .timeLimit(.minutes(1)))
    func address() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        let ours = try await control(network) { control, index in
            try control.perform(.linkUp(interface: index))
            var address = KernelAddress(
                interface: index, address: .v4(169, 254, 7, 8), prefixLength: 16,
                broadcast: IPv4Address(169, 254, 255, 255), scope: .link)
            try control.perform(.put(address))
            address.validFor = .seconds(100)
            address.isPreferred = false
            try control.perform(.put(address))
            return try control.addresses(of: index).filter { !$0.isIPv6 }
        }
        #expect(ours == [address])
        try await network.wait(for: ["eth7"]) { $0[0].flags.contains(.up) && $0[0].addresses.contains(address) }
        try await control(network) { control, index in
            let removal = RouteRequest.removeAddress(interface: index, .v4(169, 254, 7, 8), prefixLength: 16)
            try control.perform(removal)
            #expect(throws: RouteError(what: "remove 169.254.7.8/16", code: EADDRNOTAVAIL)) {
                try control.perform(removal)
            }
            #expect(throws: RouteError(what: "switch the link on", code: ENODEV)) {
                try control.perform(.linkUp(interface: 9999))
            }
        }
        try await network.wait(for: ["eth7"]) { !$0[0].addresses.contains(address) }
    }

    @Test(
        "Routes with the plug's mark are replaced, and routes of other programs are not changed",
        .timeLimit(.minutes(1)))
    func routes() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.ip("link set eth7 up")
        try await network.ip("link set other up")
        try await network.ip("addr add 192.0.2.9/24 dev eth7")
        try await network.ip("route add 198.51.100.0/24 dev eth7")
        try await control(network) { (control, index) throws in
            let router = IPv4Address(192, 0, 2, 1)
            let standard = InterfaceRoute(
                interface: index, destination: IPv4Address(0, 0, 0, 0), prefixLength: 0, router: router,
                source: IPv4Address(192, 0, 2, 9), metric: 100)
            let onLink = InterfaceRoute(
                interface: index, destination: IPv4Address(169, 254, 0, 0), prefixLength: 16, metric: 1000)
            #expect(control.replaceRoutes(of: index, with: [standard, onLink]) == nil)
            #expect(try Set(control.routes(of: index)) == [standard, onLink])
            #expect(control.replaceRoutes(of: index, with: [standard]) == nil)
            #expect(try control.routes(of: index) == [standard])
            var impossible = standard
            impossible.source = IPv4Address(203, 0, 113, 1)
            impossible.metric = 50
            #expect(control.replaceRoutes(of: index, with: [impossible, onLink])?.code == EINVAL)
            #expect(try control.routes(of: index) == [onLink])
            #expect(control.replaceRoutes(of: index, with: []) == nil)
            #expect(try control.routes(of: index) == [])
        }
        // `ip` fails if the route does not exist.
        try await network.ip("route del 198.51.100.0/24 dev eth7")
    }

    @Test(
        "A setting is changed and restored, also after a killed process left a changed value",
        .timeLimit(.minutes(1)))
    func settings() async throws {
        let network = try await PrivateNetwork()
        try await network.ip("link add eth7 type veth peer name other")
        try await network.eventLoop.submit {
            var setting = KernelSetting(.ignoredARP)
            #expect(setting.set("8", on: "eth7") == nil)
            #expect(KernelSetting.read(.ignoredARP, of: "eth7") == "8")
            // Simulates a killed process: the next process finds the changed value.
            var next = KernelSetting(.ignoredARP)
            #expect(next.set("8", on: "eth7") == nil)
            next.restore(on: "eth7")
            #expect(KernelSetting.read(.ignoredARP, of: "eth7") == "0")
            var probes = KernelSetting(.unicastProbes)
            #expect(probes.set("0", on: "eth7") == nil)
            #expect(probes.set("0", on: "eth7") == nil)
            probes.restore(on: "eth7")
            #expect(KernelSetting.read(.unicastProbes, of: "eth7") == "3")
            #expect(setting.set("8", on: "eth8") == ENOENT)
        }.get()
    }

    @Test(
        "A renewal is sent from port 68, and only replies to port 68 are received", .timeLimit(.minutes(1)))
    func datagrams() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("eth7", "other")
        try await network.ip("addr add 192.0.2.9/24 dev eth7")
        try await network.ip("link set other address 02:00:00:00:00:01")
        try await network.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev eth7")
        let (frames, heard) = AsyncStream<[UInt8]>.makeStream()
        let loop = network.eventLoop
        let socket = try await loop.submit {
            PacketSocket(
                .dhcpReplies, interface: Int32(if_nametoindex("other")), on: loop, logger: Logger(label: "test")
            ) { heard.yield($0) }
        }.get()
        try await loop.submit {
            let index = Int32(if_nametoindex("eth7"))
            // Ports 68 to 67, then 67 to 68; the filter accepts only the second datagram.
            for ports: [UInt8] in [[0, 68, 0, 67], [0, 67, 0, 68]] {
                try RenewalSocket.send(
                    ports + [0, 12, 0, 0, 1, 2, 3, 4], from: IPv4Address(192, 0, 2, 9),
                    to: IPv4Address(192, 0, 2, 1), through: index)
            }
        }.get()
        for await frame in frames {
            #expect(Array(frame[12..<14]) == [8, 0])
            #expect(Array(frame[26..<30]) == [192, 0, 2, 9])
            #expect(Array(frame[34...].prefix(12)) == [0, 67, 0, 68, 0, 12, 0, 0, 1, 2, 3, 4])
            break
        }
        try await loop.submit { socket.close() }.get()
    }

    @Test(
        "Frames pass in both directions, but not back to their sender, and pass again after the link was down",
        .timeLimit(.minutes(1)))
    func frames() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("eth7", "other")
        let loop = network.eventLoop
        let (left, heardLeft) = AsyncStream<[UInt8]>.makeStream()
        let (right, heardRight) = AsyncStream<[UInt8]>.makeStream()
        let (one, two) = try await loop.submit {
            let logger = Logger(label: "test")
            return (
                PacketSocket(.arp, interface: Int32(if_nametoindex("eth7")), on: loop, logger: logger) {
                    heardLeft.yield($0)
                },
                PacketSocket(.arp, interface: Int32(if_nametoindex("other")), on: loop, logger: logger) {
                    heardRight.yield($0)
                }
            )
        }.get()
        @Sendable func frame(_ number: UInt8) -> [UInt8] {
            [UInt8](repeating: 255, count: 6) + [2, 0, 0, 0, 0, 9, 8, 6] + [UInt8](repeating: number, count: 46)
        }
        var heard = right.makeAsyncIterator()
        // A burst is received as separate frames.
        try await loop.submit { for number: UInt8 in 1...20 { one.send(frame(number)) } }.get()
        for number: UInt8 in 1...20 { #expect(await heard.next() == frame(number)) }
        try await network.ip("link set eth7 down")
        try await network.ip("link set eth7 up")
        // The socket is reopened some time after the link is up.
        let sending = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { _ in
            one.openNow()
            one.send(frame(50))
            two.send(frame(60))
        }
        #expect(await heard.next() == frame(50))
        var answers = left.makeAsyncIterator()
        #expect(await answers.next() == frame(60))
        sending.cancel()
        try await loop.submit {
            one.close()
            two.close()
        }.get()
    }
}
