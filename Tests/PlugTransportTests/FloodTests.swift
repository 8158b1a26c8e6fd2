import NIOCore
import PlugModel
import Testing

@testable import PlugTransport

/// Connections of strangers that violate the protocol.
@Suite(.timeLimit(.minutes(1))) struct FloodTests {
    private let plug = Owner(knowsEverybody: true)
    private let controller = Owner()
    private let dialer = Dialer(identity: TransportIdentity())

    private func listen(
        _ limits: AdmissionLimits = AdmissionLimits(), memory: KnownAddressStore = KnownAddressStore()
    ) async throws -> Listener {
        try await Listener.start(
            on: plug.loop, identity: TransportIdentity(), loopbackOnly: true, limits: limits, memory: memory,
            owner: plug)
    }

    /// Connects a controller and expects it to be the first connection that the plug reports.
    private func expectControllerGetsIn(_ listener: Listener) async throws {
        try await dialer.connect(
            to: [SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))], on: controller.loop,
            owner: controller)
        await controller.send([7])
        var reports = plug.reports.makeAsyncIterator()
        let first = await reports.next()
        guard case .opened = first else {
            Issue.record("the plug's first report is \(String(describing: first))")
            return
        }
        #expect(await reports.next() == .received([7]))
    }

    @Test("A peer that does not finish the handshake is disconnected", arguments: [false, true])
    func whoDoesNotFinishTheHandshakeIsSentAway(greets: Bool) async throws {
        var limits = AdmissionLimits()
        // The controller must finish its handshake in this time on a busy machine.
        limits.handshakeTime = .seconds(5)
        let listener = try await listen(limits)
        try await Stranger.connect(to: listener.port, greets: greets).waitForEnd()
        try await expectControllerGetsIn(listener)
        await listener.stop()
    }

    @Test(
        "Bytes that are not TLS close the connection at once",
        arguments: [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 0, count: 100_000),
            // A handshake record of the maximum length, and one that states a longer length.
            [22, 3, 1, 0x40, 0] + [UInt8](repeating: 1, count: 0x4000),
            [22, 3, 1, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 70_000),
            // An alert and application data before the handshake.
            [21, 3, 3, 0, 2, 1, 0], [23, 3, 3, 0, 1, 0],
        ])
    func whatIsNoTLSIsClosedAtOnce(bytes: [UInt8]) async throws {
        let listener = try await listen()
        let stranger = try await Stranger.connect(to: listener.port)
        try? await stranger.send(bytes)
        try await stranger.waitForEnd()
        try await expectControllerGetsIn(listener)
        await listener.stop()
    }

    @Test("During a flood of connections from a different address, a controller is admitted")
    func aFloodIsTurnedAwayAtTheDoorAndTheControllerGetsIn() async throws {
        let listener = try await listen()
        // The plug closes most of these connections before a handshake. One address may open six connections at once,
        // and then one per second.
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<25 {
                        let stranger = try await Stranger.connect(to: listener.port, from: "127.0.0.2", greets: true)
                        // The plug may already have closed the connection.
                        try? await stranger.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await expectControllerGetsIn(listener)
        await listener.stop()
    }

    @Test("A connection above the limit is closed without a handshake")
    func whoIsBeyondTheLimitIsClosedWithoutAHandshake() async throws {
        var limits = AdmissionLimits()
        limits.stranger.handshakes = 1
        // The first connection stays open during the test.
        limits.handshakeTime = .seconds(600)
        let listener = try await listen(limits)
        let first = try await Stranger.connect(to: listener.port, from: "127.0.0.2")
        let second = try await Stranger.connect(to: listener.port, from: "127.0.0.2")
        try await second.waitForEnd()
        try await expectControllerGetsIn(listener)
        try await first.close()
        await listener.stop()
    }

    @Test("Addresses of paired controllers are stored, and are admitted after a restart")
    func whereControllersComeFromIsToldAndKnownAtTheNextStart() async throws {
        let (told, tell) = AsyncStream<[String]>.makeStream()
        let first = try await listen(memory: KnownAddressStore { tell.yield($0) })
        try await expectControllerGetsIn(first)
        await first.stop()
        var addresses = told.makeAsyncIterator()
        #expect(await addresses.next() == ["127.0.0.1"])

        // This limit refuses all connections of strangers.
        var limits = AdmissionLimits()
        limits.strangers.connections = 0
        let next = Owner(knowsEverybody: true)
        let listener = try await Listener.start(
            on: next.loop, identity: TransportIdentity(), loopbackOnly: true, limits: limits,
            memory: KnownAddressStore(known: ["127.0.0.1"]), owner: next)
        try await Stranger.connect(to: listener.port, from: "127.0.0.2").waitForEnd()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
        try await dialer.connect(to: [address], on: controller.loop, owner: controller)
        var reports = next.reports.makeAsyncIterator()
        #expect(await reports.next() == .opened(ConnectionID(rawValue: 2)))
        await listener.stop()
    }
}
