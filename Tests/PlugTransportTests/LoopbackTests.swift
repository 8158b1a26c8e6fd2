import NIOCore
import NIOPosix
import PlugModel
import Testing

@testable import PlugTransport

@Suite(.timeLimit(.minutes(1))) struct LoopbackTests {
    private let plug = Owner(knowsEverybody: true)
    private let controller = Owner()
    private let identity = TransportIdentity()
    private let dialer = Dialer(identity: TransportIdentity())

    private func address(_ port: UInt16, _ host: String = "127.0.0.1") throws -> SocketAddress {
        try SocketAddress(ipAddress: host, port: Int(port))
    }

    @Test("Bytes arrive in both directions, and the end of the connection is reported once")
    func bytesGoBothWaysAndTheEndIsReportedOnce() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var atPlug = plug.reports.makeAsyncIterator()
        var atController = controller.reports.makeAsyncIterator()
        let id = try #require(await atController.next()?.connection)
        #expect(await atPlug.next() == .opened(ConnectionID(rawValue: 1)))
        #expect(await plug.peer.contains("127.0.0.1"))
        await controller.send([1, 2, 3])
        #expect(await atPlug.next() == .received([1, 2, 3]))
        // Bytes that were sent before the close still arrive.
        await plug.send([UInt8](repeating: 9, count: 300_000))
        await plug.close()
        var received = 0
        var after: Owner.Report?
        while let report = await atController.next() {
            guard case .received(let bytes) = report else {
                after = report
                break
            }
            received += bytes.count
        }
        #expect(received == 300_000)
        #expect(after == .closed(id))
        var closed = await atPlug.next()
        while case .writable = closed { closed = await atPlug.next() }
        #expect(closed == .closed(ConnectionID(rawValue: 1)))
        // Nothing follows the end: the next report on both sides is a new connection.
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        #expect(await atPlug.next() == .opened(ConnectionID(rawValue: 2)))
        guard case .opened = await atController.next() else {
            Issue.record("a report followed the end of the connection")
            return
        }
        await listener.stop()
    }

    @Test("Writes in one tick of the event loop arrive as one read")
    func whatIsSentInOneTurnOfTheLoopArrivesAsOne() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var atPlug = plug.reports.makeAsyncIterator()
        #expect(await atPlug.next()?.connection != nil)
        await controller.send(pieces: [[1], [2, 3], [4]])
        #expect(await atPlug.next() == .received([1, 2, 3, 4]))
        await controller.send(pieces: [[5], [6]])
        #expect(await atPlug.next() == .received([5, 6]))
        await listener.stop()
    }

    @Test("A port in use is reported with a hint") func aPortThatIsTakenIsSaid() async throws {
        let first = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        let error = await #expect(throws: ListenError.self) {
            try await Listener.start(
                on: plug.loop, identity: identity, loopbackOnly: true, port: first.port, owner: plug)
        }
        #expect(
            error.map { "\($0)" } == """
                cannot listen on 127.0.0.1 port \(first.port): Address already in use
                hint: another program may use the port; without --port the kernel chooses a free one
                """)
        await first.stop()
    }

    @Test("A listener on all interfaces accepts IPv4 as well")
    func listeningEverywhereTakesBothFamilies() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: false, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        guard case .opened = await reports.next() else {
            Issue.record("the plug reported no connection")
            return
        }
        await listener.stop()
    }

    @Test("An address that refuses the connection is skipped") func anAddressThatRefusesIsPassedOver() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        let refusing = try RefusingPort()
        let addresses = try [address(refusing.port), address(refusing.port, "127.0.0.2"), address(listener.port)]
        try await dialer.connect(to: addresses, on: controller.loop, owner: controller)
        #expect(await controller.connections.count == 1)
        await controller.send([7])
        var reports = plug.reports.makeAsyncIterator()
        guard case .opened = await reports.next() else {
            Issue.record("the plug reported no connection")
            return
        }
        #expect(await reports.next() == .received([7]))
        await listener.stop()
    }

    @Test("If every address refuses, the attempt fails and no connection is reported")
    func whereEveryAddressRefusesTheAttemptFailsAndNothingWasOpened() async throws {
        let refusing = try RefusingPort()
        let refused = await #expect(throws: DialError.self) {
            try await dialer.connect(to: [address(refusing.port)], on: controller.loop, owner: controller)
        }
        #expect(
            refused.map { "\($0)" } == "cannot connect to 127.0.0.1 port \(refusing.port): Connection refused")
        let nowhere = await #expect(throws: DialError.self) {
            try await dialer.connect(to: [], on: controller.loop, owner: controller)
        }
        #expect(nowhere.map { "\($0)" } == "cannot connect: no address of the plug is known")
        #expect(await controller.connections.isEmpty)
    }

    @Test("A peer that stops reading is reported as not writable, and as writable when it resumes")
    func aPeerThatDoesNotReadIsReportedAndSoIsItsReturn() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        _ = await reports.next()
        await controller.setReading(false)
        let block = [UInt8](repeating: 5, count: 1 << 16)
        var sent = 0
        // The kernel buffers some megabytes before the channel's own buffer fills up.
        while await plug.isWritable, sent < 1 << 28 {
            await plug.send(block)
            sent += block.count
        }
        #expect(await reports.next() == .writable(false))
        await controller.setReading(true)
        #expect(await reports.next() == .writable(true))
        var received = 0
        for await case .received(let bytes) in controller.reports {
            received += bytes.count
            if received == sent { break }
        }
        #expect(received == sent)
        await listener.stop()
    }

    @Test("A close to a peer that never reads is forced after two seconds")
    func aPeerThatNeverReadsHoldsUpACloseForTwoSecondsAtMost() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        _ = await reports.next()
        await controller.setReading(false)
        // 32 MiB are more than the kernel buffers.
        for _ in 0..<512 { await plug.send([UInt8](repeating: 5, count: 1 << 16)) }
        let began = ContinuousClock.now
        await plug.close()
        var report = await reports.next()
        while case .writable = report { report = await reports.next() }
        #expect(report == .closed(ConnectionID(rawValue: 1)))
        #expect(began.duration(to: .now) >= .seconds(2))
        await listener.stop()
    }

    @Test("A stopped listener accepts no connection, and the connections of paired controllers continue")
    func afterTheStopNobodyIsAcceptedAndWhoIsThereStays() async throws {
        let listener = try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
        try await dialer.connect(to: [address(listener.port)], on: controller.loop, owner: controller)
        var reports = plug.reports.makeAsyncIterator()
        _ = await reports.next()
        await listener.stop()
        // Another process may own the port by now, so only the plug's reports are checked.
        let late = Owner()
        _ = try? await dialer.connect(to: [address(listener.port)], on: late.loop, owner: late)
        await controller.send([1])
        #expect(await reports.next() == .received([1]))
    }
}
