import DNSWire
import Glibc
import Logging
import MulticastDNS
import NIOCore
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Multicast sockets in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct MulticastSocketTests {
    private func open(_ network: PrivateNetwork, _ interface: String, _ family: IPFamily) async throws -> Listener {
        let eventLoop = network.eventLoop
        return try await eventLoop.submit {
            let identity = MulticastSocket.Identity(
                interface: if_nametoindex(interface), interfaceName: interface, family: family,
                isLoopback: interface == "lo")
            return Listener(identity, on: eventLoop)
        }.get()
    }

    @Test("A multicast on loopback reaches its sender and a second socket", .timeLimit(.minutes(1)))
    func loopback() async throws {
        let network = try await PrivateNetwork()
        let first = try await open(network, "lo", .v4)
        let second = try await open(network, "lo", .v4)
        try await first.send([1, 2, 3], to: .multicast(.v4))
        let expected = ReceivedDatagram(
            bytes: [1, 2, 3], source: .v4(127, 0, 0, 1), sourcePort: 5353, destination: .v4(224, 0, 0, 251),
            interface: 1)
        let heard = await second.next()
        #expect(heard == expected)
        #expect(await first.next() == expected)
        try await first.close()
        try await second.close()
    }

    /// Opens only one socket, because the kernel delivers a unicast packet to only one of several sockets on a port.
    @Test("A unicast packet is recognized by its destination", .timeLimit(.minutes(1)))
    func unicast() async throws {
        let network = try await PrivateNetwork()
        let socket = try await open(network, "lo", .v4)
        try await socket.send([4], to: .unicast(.v4(127, 0, 0, 1), port: 5353))
        let expected = ReceivedDatagram(
            bytes: [4], source: .v4(127, 0, 0, 1), sourcePort: 5353, destination: .v4(127, 0, 0, 1), interface: 1)
        #expect(await socket.next() == expected)
        try await socket.close()
    }

    @Test("An IPv6 multicast over a cable is received with the receiving interface's index", .timeLimit(.minutes(1)))
    func cable() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("left", "right")
        let left = try await open(network, "left", .v6)
        let right = try await open(network, "right", .v6)
        try await left.send([5], to: .multicast(.v6))
        let heard = try #require(await right.next())
        let index = try await network.eventLoop.submit { if_nametoindex("right") }.get()
        #expect(heard.interface == index && heard.bytes == [5] && heard.source.isLinkLocal, "\(heard)")
        #expect(heard.destination == .v6(RFC6762.groupV6) && heard.sourcePort == 5353)
        // An answer to one peer needs the interface, because every interface has link-local addresses.
        try await right.send([6], to: .unicast(heard.source, port: 5353))
        let counters = try await right.counters
        #expect(counters.sent == 1 && counters.sendsFailed == 0)
        try await left.close()
        try await right.close()
    }

    @Test("A socket sends again after its interface was down", .timeLimit(.minutes(1)))
    func reopening() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("left", "right")
        let left = try await open(network, "left", .v6)
        try await network.ip("link set left down")
        try await left.send([1], to: .multicast(.v6))
        #expect(try await left.counters.sendsFailed == 1)
        try await network.ip("link set left up")
        var counters = SocketCounters()
        while counters.sent == 0 {
            try await left.send([2], to: .multicast(.v6))
            counters = try await left.counters
        }
        #expect(counters.reopenings > 0)
        try await left.close()
    }

    @Test("A socket on a missing interface is opened again later, and can be closed", .timeLimit(.minutes(1)))
    func missingInterface() async throws {
        let network = try await PrivateNetwork()
        let eventLoop = network.eventLoop
        let socket = try await eventLoop.submit {
            Listener(.init(interface: 4711, interfaceName: "eth9", family: .v4), on: eventLoop)
        }.get()
        try await socket.send([1], to: .multicast(.v4))
        let counters = try await socket.counters
        // Opening the socket is retried, and datagrams that are sent meanwhile are dropped.
        #expect(counters.sendsDropped == 1 && counters.reopenings >= 1)
        try await socket.close()
    }

    @Test("Socket addresses keep their bytes, and link-local ones get the scope of the interface")
    func addresses() throws {
        let routable = SocketAddress(.v4(192, 0, 2, 7), port: 5353, interface: 3)
        #expect(routable.ipAddress == .v4(192, 0, 2, 7) && routable.port == 5353)
        let bytes: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [9]
        let local = SocketAddress(try #require(IPAddress(bytes: bytes)), port: 80, interface: 3)
        #expect(local.ipAddress?.bytes == bytes && local.port == 80)
        guard case .v6(let socketAddress) = local else {
            Issue.record("the socket address is not an IPv6 address")
            return
        }
        #expect(socketAddress.address.sin6_scope_id == 3)
        #expect(IPAddress.v4(224, 0, 0, 251).isMulticast && IPAddress.v6(RFC6762.groupV6).isMulticast)
        #expect(routable.ipAddress?.isMulticast == false && local.ipAddress?.isMulticast == false)
    }
}

/// A socket under test, and the datagrams that it received. The test calls the methods from outside of the event loop.
private final class Listener: Sendable {
    private let socket: MulticastSocket
    private let eventLoop: any EventLoop
    private let heard: AsyncStream<ReceivedDatagram>

    /// Must be called on the event loop, whose thread is in the namespace.
    init(_ identity: MulticastSocket.Identity, on eventLoop: any EventLoop) {
        let (heard, continuation) = AsyncStream<ReceivedDatagram>.makeStream()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        socket = MulticastSocket(identity, on: eventLoop, logger: logger) { continuation.yield($0) }
        self.eventLoop = eventLoop
        self.heard = heard
    }

    var counters: SocketCounters {
        get async throws { try await eventLoop.submit { self.socket.counters }.get() }
    }

    func send(_ bytes: [UInt8], to destination: OutboundDatagram.Destination) async throws {
        try await eventLoop.flatSubmit {
            let written = self.eventLoop.makePromise(of: Void.self)
            self.socket.send(bytes, to: destination, written: written)
            return written.futureResult
        }.get()
    }

    func next() async -> ReceivedDatagram? {
        var iterator = heard.makeAsyncIterator()
        return await iterator.next()
    }

    func close() async throws { try await eventLoop.submit { self.socket.close() }.get() }
}
