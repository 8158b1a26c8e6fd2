import Logging
import MulticastDNS
import NIOCore
import ServiceDiscovery
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Discovery in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct DiscoveryTests {
    private let type: ServiceType = "_smartplug._tcp"

    private func discovery(_ network: PrivateNetwork, _ names: Set<String> = ["lo"]) -> Discovery {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return Discovery(interfaces: .named(names), on: network.eventLoop, logger: logger)
    }

    private func service(_ name: String, host: String, port: UInt16 = 4711) throws -> ServiceRegistration {
        try ServiceRegistration(name: name, type: type, hostName: host, port: port, txt: TXTRecord(["id": host]))
    }

    /// Returns the first change that satisfies the condition.
    private func first(
        _ browser: inout ServiceBrowser.Iterator, _ isExpected: (ServiceChange) -> Bool
    ) async throws -> ServiceChange {
        while let change = await browser.next()?.change {
            if isExpected(change) { return change }
        }
        throw NetworkError.stopped
    }

    private func first(_ registration: Registration) async -> String? {
        var names = registration.names.makeAsyncIterator()
        return await names.next()
    }

    @Test("A service on loopback is found, resolved, changed, and lost after its goodbye", .timeLimit(.minutes(1)))
    func twoPrograms() async throws {
        let network = try await PrivateNetwork()
        let plug = discovery(network)
        let controller = discovery(network)
        var browser = controller.browse(type).makeAsyncIterator()
        let registration = try await plug.register(service("Living Room Lamp", host: "plug-1a2b3c"))
        #expect(await first(registration) == "Living Room Lamp")
        #expect(await registration.name == "Living Room Lamp")

        let identity = ServiceIdentity(name: "Living Room Lamp", type: type, interface: 1)
        let txt = try TXTRecord(["id": "plug-1a2b3c"])
        #expect(await browser.next()?.change == .found(identity, txt: txt))
        let resolved = try await controller.resolveOnce(identity)
        #expect(resolved.hostName == "plug-1a2b3c.local" && resolved.port == 4711 && resolved.txt == txt)
        #expect(resolved.addresses.map(\.address) == [.v4(127, 0, 0, 1)])
        #expect(resolved.addresses.map(\.interface) == [1])

        let newer = try TXTRecord(["id": "plug-1a2b3c", "pair": "1"])
        await registration.updateTXT(newer)
        #expect(await browser.next()?.change == .changed(identity, txt: newer))

        var resolutions = controller.resolve(identity).makeAsyncIterator()
        guard case .resolved = await resolutions.next() else {
            Issue.record("the service was not resolved")
            return
        }
        await plug.stop()
        #expect(try await first(&browser) { _ in true } == .lost(identity))
        #expect(await resolutions.next() == .gone)
        #expect(await registration.name == nil)
        await #expect(throws: NetworkError.stopped) { try await plug.register(service("Late", host: "late")) }
        #expect(await browser.signalsAfter(controller) == nil)
    }

    @Test("Two services of the same name become NAME and NAME (2)", .timeLimit(.minutes(1)))
    func sameName() async throws {
        let network = try await PrivateNetwork()
        let (left, right) = (discovery(network), discovery(network))
        let first = try await left.register(service("Lamp", host: "plug-000001"))
        #expect(await self.first(first) == "Lamp")
        let second = try await right.register(service("Lamp", host: "plug-000002"))
        #expect(await self.first(second) == "Lamp (2)")
        #expect(await first.name == "Lamp")
        await second.cancel()
        await left.stop()
        await right.stop()
    }

    @Test(
        "Discovery starts when the first interface appears, and again when the interface was removed and added",
        .timeLimit(.minutes(1)))
    func interfaceComesAndGoes() async throws {
        let network = try await PrivateNetwork()
        let plug = discovery(network, ["left"])
        let controller = discovery(network, ["right"])
        let registration = try await plug.register(service("Kettle", host: "plug-000003"))
        var browser = controller.browse(type).makeAsyncIterator()
        for _ in 0..<2 {
            try await network.connectedPair("left", "right")
            let found = try await first(&browser) { if case .found = $0 { true } else { false } }
            #expect(found.identity.name == "Kettle")
            let resolved = try await controller.resolveOnce(found.identity)
            #expect(
                resolved.addresses.allSatisfy { $0.address.isLinkLocal && $0.interface == found.identity.interface })
            try await network.ip("link del left")
            #expect(try await first(&browser) { _ in true } == .lost(found.identity))
        }
        #expect(await registration.name == "Kettle")
        await plug.stop()
        await controller.stop()
    }

    @Test(
        "A resolve without an answer throws notFound after its timeout; a cancelled resolve throws immediately",
        .timeLimit(.minutes(1)))
    func notFound() async throws {
        let network = try await PrivateNetwork()
        let controller = discovery(network)
        let identity = ServiceIdentity(name: "Nobody", type: type)
        await #expect(throws: NetworkError.notFound(name: "Nobody", within: .milliseconds(50))) {
            try await controller.resolveOnce(identity, timeout: .milliseconds(50))
        }
        let search = Task { try await controller.resolveOnce(identity, timeout: .seconds(3600)) }
        search.cancel()
        await #expect(throws: CancellationError.self) { try await search.value }
        await controller.stop()
        await #expect(throws: NetworkError.stopped) { try await controller.resolveOnce(identity) }
    }

    @Test("Browses and resolves end when their readers are gone", .timeLimit(.minutes(1)))
    func abandonedReaders() async throws {
        let network = try await PrivateNetwork()
        let controller = discovery(network)
        do {
            let browser = controller.browse(type).makeAsyncIterator()
            let resolution = controller.resolve(ServiceIdentity(name: "Lamp", type: type))
            try await network.eventLoop.submit {}.get()
            #expect(await controller.readers == [1, 1])
            withExtendedLifetime((browser, resolution)) {}
        }
        try await network.eventLoop.submit {}.get()
        #expect(await controller.readers == [0, 0])
        await controller.stop()
    }

    @Test("Malformed datagrams are counted and do not disturb the discovery", .timeLimit(.minutes(1)))
    func garbage() async throws {
        let network = try await PrivateNetwork()
        let plug = discovery(network)
        let registration = try await plug.register(service("Lamp", host: "plug-000004"))
        #expect(await first(registration) == "Lamp")
        await plug.sendGarbage(count: 20)
        while await plug.counters.malformed < 20 { try await network.eventLoop.submit {}.get() }
        let controller = discovery(network)
        let found = try await controller.resolveOnce(ServiceIdentity(name: "Lamp", type: type))
        #expect(found.port == 4711)
        await plug.stop()
        await controller.stop()
    }
}

extension Discovery {
    fileprivate var readers: [Int] { [browses.count, resolves.count] }

    fileprivate func sendGarbage(count: Int) {
        for number in 0..<count {
            let bytes = [UInt8](repeating: 0xFF, count: 1 + number * 37)
            _ = send(OutboundDatagram(bytes: bytes, interface: 1, destination: .multicast(.v4)))
        }
    }
}

extension ServiceBrowser.Iterator {
    /// Stops the discovery and returns the next change.
    fileprivate mutating func signalsAfter(_ discovery: Discovery) async -> ServiceChange? {
        await discovery.stop()
        return await next()?.change
    }
}
