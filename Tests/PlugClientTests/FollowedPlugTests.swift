import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore
import TestSupport
import Testing

@testable import PlugClient

private let auditedLamp = {
    var identity = lamp
    identity.capabilities.insert(.audit)
    return identity
}()

/// A plug's server on a real connection.
private actor Plug: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop
    private var server = PlugServer(
        identity: auditedLamp, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
    private var connections: [ConnectionID: Connection] = [:]
    private let answers: Bool
    private let audit: [AuditEntry]

    init(on loop: any EventLoop, answers: Bool = true, audit: [AuditEntry] = []) {
        self.loop = loop
        self.answers = answers
        self.audit = audit
    }

    func opened(_ connection: Connection) {
        connection.markPaired()
        connections[connection.id] = connection
        handle(.shell(.opened(PlugServer.Opening(connection.id, peer: connection.peer))))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.shell(.received(id, bytes))) }
    func writable(_ isWritable: Bool, on id: ConnectionID) { handle(.shell(.writable(id, isWritable))) }
    func closed(_ id: ConnectionID) { handle(.shell(.closed(id))) }

    /// Closes the connections without a Goodbye.
    func hangUp() { connections.values.forEach { $0.close() } }

    private func handle(_ event: PlugServer.Event) {
        for action in server.handle(event, now: BootClock.now) {
            switch action {
            case .shell(.send(let id, let bytes)): connections[id]?.send(bytes)
            case .shell(.close(let id, _)): connections[id]?.close()
            case .perform(let request, let controller, _, _):
                guard answers else { continue }
                handle(
                    .record(
                        .relayChanged(
                            on: true, cause: .controller(name: controller, request: request.request, authority: .desk)))
                )
                handle(.commandOutcome(request, .done(PlugState(relayOn: true), event: nil)))
            case .factoryReset: handle(.factoryReset)
            case .fetchAudit(let id, let after, let limit):
                let asked = audit.filter { $0.number > after }.suffix(limit ?? .max)
                handle(.audit(id, AuditPage(Array(asked.prefix(2)), isLast: asked.count <= 2)))
            case .keepCode: handle(.codeKept(nil))
            case .shell, .fetch, .keep, .record: break
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct FollowedPlugTests {
    private struct Unreachable: Error {}

    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    private func follow(_ connect: @escaping @Sendable (FollowedPlug) async throws -> Void) async -> FollowedPlug {
        let machine = PlugFollower(controllerName: "Desk", cursor: .now, stateOptions: StateOptions(), seed: 1)
        let plug = FollowedPlug(name: "Lamp", machine: machine, eventLoop: loop, connect: connect)
        await plug.locate()
        return plug
    }

    private func follow(_ plug: Plug) async throws -> (FollowedPlug, Listener) {
        let listener = try await Listener.start(
            on: plug.loop, identity: TransportIdentity(), loopbackOnly: true, owner: plug)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
        let dialer = Dialer(identity: TransportIdentity())
        let followed = await follow { [loop] followed in
            try await dialer.connect(to: [address], on: loop, owner: followed)
        }
        return (followed, listener)
    }

    @Test("An unreachable plug is tried again while the caller holds only its reports")
    func aPlugThatCannotBeReachedIsTriedAgainThoughOnlyItsReportsAreHeld() async {
        let reports = await follow { _ in throw Unreachable() }.reports
        var reasons: [String] = []
        for await case .disconnected(let reason, _) in reports.map(\.update) {
            reasons.append("\(reason)")
            if reasons.count == 2 { break }
        }
        #expect(reasons == ["Unreachable()", "Unreachable()"])
    }

    @Test("A command for one plug is refused when a different plug is reached under the name")
    func commandForOnePlug() async throws {
        let plug = Plug(on: loop)
        let listener = try await Listener.start(
            on: loop, identity: TransportIdentity(), loopbackOnly: true, owner: plug)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
        let dialer = Dialer(identity: TransportIdentity())
        let (begin, beginning) = AsyncStream<Void>.makeStream()
        let followed = await follow { [loop] followed in
            for await _ in begin {}
            await followed.expect(lamp.id)
            try await dialer.connect(to: [address], on: loop, owner: followed)
        }
        let other = PlugID(rawValue: "ba9876543210")!
        let early = Task { _ = try await followed.send(turnOn, only: other) }
        let right = Task { try await followed.send(turnOn, only: lamp.id).state.relayOn }
        while await followed.waitingCommands < 2, !Task.isCancelled { await Task.yield() }
        // Finished, so that a second attempt after a failed connection does not wait.
        beginning.finish()
        await #expect(throws: Refusal.self) { try await early.value }
        #expect(try await right.value)
        await #expect(throws: Refusal.self) { try await followed.send(turnOn, only: other) }
        await followed.stop()
        await listener.stop()
    }

    @Test("A command is executed and its event is reported") func aCommandIsDoneAndItsEventReported() async throws {
        let (followed, listener) = try await follow(Plug(on: loop))
        let result = try await followed.send(turnOn)
        #expect(result.state.relayOn && result.event == 1)
        for await report in followed.reports {
            guard case .event(let event, let age) = report.update else { continue }
            #expect(report.plug == "Lamp" && event.sequence == 1 && age != nil)
            break
        }
        await followed.stop()
        await listener.stop()
    }

    @Test("The audit log arrives in pages, with times of the controller's clock")
    func theAuditLogComesInPartsAndItsTimesAreTheControllers() async throws {
        let now = BootClock.now
        let audit = (1...5 as ClosedRange<UInt64>).map { number in
            AuditEntry(
                number: number, boot: number < 3 ? BootID(bytes: [UInt8](repeating: 9, count: 16))! : lamp.boot,
                time: now - .seconds(60), AuditNote(.renamed, by: .button))
        }
        let (followed, listener) = try await follow(Plug(on: loop, audit: audit))
        await #expect(throws: Refusal.self) { _ = try await followed.audit() }
        var reports = followed.reports.makeAsyncIterator()
        while let report = await reports.next() { if case .connected = report.update { break } }
        let told = try await followed.audit()
        #expect(told.map(\.entry) == audit)
        #expect(
            told.map { $0.at == nil } == [true, true, false, false, false], "entries of an earlier boot have no time")
        let age = WallTime.now.nanosecondsSince1970 - (told[4].at?.nanosecondsSince1970 ?? 0)
        #expect((59_000_000_000...600_000_000_000).contains(age))
        #expect(try await followed.audit(limit: 3).map(\.entry.number) == [3, 4, 5])
        await followed.stop()
        await #expect(throws: Refusal.self) { _ = try await followed.audit() }
        await listener.stop()
    }

    @Test("A command waits for the next connection") func aCommandWaitsForAConnectionThatComesBack() async throws {
        let plug = Plug(on: loop)
        let (followed, listener) = try await follow(plug)
        var reports = followed.reports.makeAsyncIterator()
        while let report = await reports.next() { if case .snapshot = report.update { break } }
        await plug.hangUp()
        while let report = await reports.next() { if case .disconnected = report.update { break } }
        await followed.locate()
        #expect(try await followed.send(turnOn).state.relayOn)
        await followed.stop()
        await listener.stop()
    }

    @Test("A cancelled command throws a cancellation error") func whoGivesUpIsLetGo() async throws {
        let (followed, listener) = try await follow(Plug(on: loop, answers: false))
        let sending = Task { try await followed.send(turnOn) }
        for await report in followed.reports { if case .snapshot = report.update { break } }
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        await followed.stop()
        await listener.stop()
    }

    @Test("After the stop, the reports end and commands are refused")
    func afterTheStopReportsEndAndCommandsAreRefused() async throws {
        let (followed, listener) = try await follow(Plug(on: loop, answers: false))
        let waiting = Task { try await followed.send(turnOn) }
        var reports = followed.reports.makeAsyncIterator()
        while let report = await reports.next() { if case .snapshot = report.update { break } }
        await followed.stop()
        while await reports.next() != nil {}
        await #expect(throws: Refusal.self) { try await waiting.value }
        await #expect(throws: Refusal(.deadlinePassed, "the plug is no longer followed")) {
            try await followed.send(turnOn)
        }
        await listener.stop()
    }
}
