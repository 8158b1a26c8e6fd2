import DNSWire
import Glibc
import Logging
import MulticastDNS
import NIOCore
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Receiving multicast DNS packets in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct PacketListenerTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Opens the socket of a responder.
    private func sender(_ network: PrivateNetwork, _ interface: String, _ family: IPFamily) async throws
        -> MulticastSocket
    {
        let (eventLoop, silent) = (network.eventLoop, silent)
        return try await eventLoop.submit {
            MulticastSocket(
                .init(interface: if_nametoindex(interface), interfaceName: interface, family: family), on: eventLoop,
                logger: silent
            ) { _ in }
        }.get()
    }

    private func send(
        _ bytes: [UInt8], from socket: MulticastSocket, to destination: OutboundDatagram.Destination,
        on network: PrivateNetwork
    ) async throws {
        let eventLoop = network.eventLoop
        try await eventLoop.flatSubmit {
            let written = eventLoop.makePromise(of: Void.self)
            socket.send(bytes, to: destination, written: written)
            return written.futureResult
        }.get()
    }

    @Test(
        "The listener receives multicast of both families, and no unicast packets to a responder",
        .timeLimit(.minutes(1)))
    func hears() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("left", "right")
        try await network.ip("address add 192.0.2.1/24 dev left")
        let index = try await network.eventLoop.submit { if_nametoindex("left") }.get()
        let listener = PacketListener(interfaces: .named(["left"]), on: network.eventLoop, logger: silent)
        while await listener.places.count < 2 { await Task.yield() }
        var packets = listener.packets.makeAsyncIterator()
        for (family, byte) in [(IPFamily.v4, UInt8(4)), (.v6, 6)] {
            // A program receives the multicast of other programs on the same host.
            let responder = try await sender(network, "left", family)
            if family == .v4 {
                try await send([9], from: responder, to: .unicast(.v4(192, 0, 2, 1), port: 5353), on: network)
            }
            try await send([byte], from: responder, to: .multicast(family), on: network)
            let heard = try #require(await packets.next())
            #expect(heard.bytes == [byte] && heard.source.address.family == family && heard.source.port == 5353)
            #expect(heard.interface == index)
            #expect(heard.destination == (family == .v4 ? .v4(224, 0, 0, 251) : .v6(RFC6762.groupV6)))
            try await network.eventLoop.submit { responder.close() }.get()
        }
        let faults = await listener.faults
        #expect(faults.isEmpty)
        await listener.stop()
        let end = await packets.next()
        #expect(end == nil)
    }

    @Test("A port that another program uses exclusively causes a fault with the reason", .timeLimit(.minutes(1)))
    func portTaken() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("left", "right")
        let descriptor = try await network.eventLoop.submit {
            let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = RFC6762.port.bigEndian
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
            #expect(bound == 0)
            return descriptor
        }.get()
        defer { close(descriptor) }
        let listener = PacketListener(interfaces: .named(["right"]), on: network.eventLoop, logger: silent)
        while await listener.faults.isEmpty { await Task.yield() }
        let faults = await listener.faults
        #expect(faults.values.sorted() == ["bind: Address already in use"])
        await listener.stop()
    }
}
