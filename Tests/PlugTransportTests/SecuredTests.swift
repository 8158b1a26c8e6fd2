import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import TestSupport
import Testing

@testable import PlugTransport

/// Properties of TLS connections between the plug and the controller.
@Suite(.timeLimit(.minutes(1))) struct SecuredTests {
    private let plug = Owner(knowsEverybody: true)
    private let controller = Owner()
    private let plugIdentity = TransportIdentity()
    private let controllerIdentity = TransportIdentity()
    private let dialer: Dialer

    init() { dialer = Dialer(identity: controllerIdentity) }

    private func listen(
        as identity: TransportIdentity? = nil, limits: AdmissionLimits = AdmissionLimits(), owner: Owner? = nil
    ) async throws -> Listener {
        let owner = owner ?? plug
        return try await Listener.start(
            on: owner.loop, identity: identity ?? plugIdentity, loopbackOnly: true, limits: limits, owner: owner)
    }

    private func address(_ listener: Listener) throws -> SocketAddress {
        try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
    }

    @Test("Each side receives the other's key") func eachSideLearnsTheOthersKey() async throws {
        let listener = try await listen()
        try await dialer.connect(
            to: [address(listener)], expecting: plugIdentity.publicKey, on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        #expect(await reports.next() == .opened(ConnectionID(rawValue: 1)))
        #expect(await plug.peerKey == controllerIdentity.publicKey)
        #expect(await controller.peerKey == plugIdentity.publicKey)
        await listener.stop()
    }

    @Test("A different key is refused before any data is sent")
    func anotherKeyIsRefusedBeforeAnythingIsSaid() async throws {
        let listener = try await listen()
        let expected = TransportIdentity().publicKey
        let error = await #expect(throws: DialError.self) {
            try await dialer.connect(
                to: [address(listener)], expecting: expected, on: controller.loop, owner: controller)
        }
        #expect(error?.attempts.map(\.failure) == [.otherKey(plugIdentity.publicKey)])
        #expect(
            error.map { "\($0)" } == """
                cannot connect to 127.0.0.1 port \(listener.port): the device has a different key than the paired plug
                """)
        #expect(await controller.connections.isEmpty)
        // The plug did not report the refused connection: its first report is the next connection.
        try await dialer.connect(to: [address(listener)], on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        #expect(await reports.next() == .opened(ConnectionID(rawValue: 2)))
        await listener.stop()
    }

    @Test("An address that belongs to a different plug does not prevent the connection")
    func anAddressThatIsAnothersByNowDoesNotHideThePlug() async throws {
        let other = try await listen(as: TransportIdentity(), owner: Owner())
        let right = try await listen()
        try await dialer.connect(
            to: [address(other), address(right)], expecting: plugIdentity.publicKey, on: controller.loop,
            owner: controller)
        #expect(await controller.connections.map(\.peerKey) == [plugIdentity.publicKey])
        await other.stop()
        await right.stop()
    }

    @Test("Without a TLS answer, the attempt times out")
    func whereNobodySpeaksTLSTheAttemptEndsInItsTime() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
        let error = await #expect(throws: DialError.self) {
            try await dialer.connect(
                to: [try #require(silent.localAddress)], timeout: .milliseconds(200), on: controller.loop,
                owner: controller)
        }
        try await silent.close()
        #expect(error?.attempts.map(\.failure) == [.handshake("no answer to the TLS handshake")])
    }

    // MARK: Limits of strangers

    @Test("A stranger is disconnected after the pairing time, and a paired controller stays")
    func whoIsNotKnownInTimeHasToLeaveAndWhoIsKnownStays() async throws {
        var limits = AdmissionLimits()
        limits.pairingTime = .milliseconds(50)
        let stranger = Owner()
        let strange = try await listen(limits: limits, owner: stranger)
        try await dialer.connect(to: [address(strange)], on: controller.loop, owner: controller)
        let id = try #require(await controller.connections.first?.id)
        var heard = controller.reports.makeAsyncIterator()
        #expect(await heard.next() == .opened(id))
        #expect(await heard.next() == .closed(id))
        await strange.stop()

        limits.handshakeTime = .seconds(1)
        let known = try await listen(limits: limits)
        let late = Owner()
        try await dialer.connect(to: [address(known)], on: late.loop, owner: late)
        // The plug disconnects this stranger after the handshake time of 1 s. By then, the pairing time of 50 ms has
        // passed for `late`.
        try await Stranger.connect(to: known.port).waitForEnd()
        await late.send([1])
        var reports = plug.reports.makeAsyncIterator()
        #expect(await reports.next() == .opened(ConnectionID(rawValue: 1)))
        #expect(await reports.next() == .received([1]))
        await known.stop()
    }

    @Test("A stranger may send only as much as pairing needs, and a paired controller any amount")
    func whoIsNotKnownMaySayAsMuchAsAPairingTakesAndWhoIsKnownAnything() async throws {
        let stranger = Owner()
        let strange = try await listen(owner: stranger)
        try await dialer.connect(to: [address(strange)], on: controller.loop, owner: controller)
        let id = try #require(await controller.connections.first?.id)
        await controller.send([UInt8](repeating: 1, count: 70_000))
        var heard = controller.reports.makeAsyncIterator()
        #expect(await heard.next() == .opened(id))
        var next = await heard.next()
        while case .writable = next { next = await heard.next() }
        #expect(next == .closed(id))
        await strange.stop()

        let known = try await listen()
        let friend = Owner()
        try await dialer.connect(to: [address(known)], on: friend.loop, owner: friend)
        // The plug identifies the peer when its own side of the handshake has finished. Until then the limit applies to
        // every peer.
        await friend.send([0])
        var received = 0
        for await report in plug.reports {
            if case .received(let bytes) = report { received += bytes.count }
            if received == 1 { await friend.send([UInt8](repeating: 1, count: 69_999)) }
            if case .closed = report { break }
            if received == 70_000 { break }
        }
        #expect(received == 70_000)
        await known.stop()
    }

    @Test("A stopped listener disconnects strangers") func strangersLeaveWithTheListener() async throws {
        let owner = Owner()
        let listener = try await listen(owner: owner)
        try await dialer.connect(to: [address(listener)], on: controller.loop, owner: controller)
        let greeting = try await Stranger.connect(to: listener.port, greets: true)
        let silent = try await Stranger.connect(to: listener.port)
        var reports = owner.reports.makeAsyncIterator()
        let id = try #require(await reports.next()?.connection)
        await listener.stop()
        #expect(await reports.next() == .closed(id))
        try await greeting.waitForEnd()
        try await silent.waitForEnd()
    }

    // MARK: Key log

    @Test("TLS secrets are logged only if a key log is given")
    func secretsAreLoggedOnlyWhereAFileIsGiven() async throws {
        let directory = TestFolder()
        let path = directory.path + "/keys.log"
        let listener = try await listen()
        let logging = Dialer(identity: controllerIdentity, keyLog: try KeyLog(path))
        try await dialer.connect(to: [address(listener)], on: controller.loop, owner: controller)
        #expect(try FileStore().read(path, limit: 10_000).isEmpty)
        try await logging.connect(to: [address(listener)], on: controller.loop, owner: controller)
        let text = String(decoding: try FileStore().read(path, limit: 10_000), as: UTF8.self)
        let labels = text.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(
            Set(labels) == [
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
                "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
            ])
        #expect(text.hasSuffix("\n"))
        await listener.stop()
    }
}
