import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import PlugProtocol
import PlugTransport
import ServiceDiscovery
import Synchronization
import TestSupport
import Testing

@testable import PlugClient

/// A plug's server on a real connection.
private actor HousePlug: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop
    nonisolated let id: PlugID
    private var server: PlugServer
    private var connections: [ConnectionID: Connection] = [:]
    private var answers = true
    /// The number of commands that the plug was requested to execute.
    private(set) var asked = 0

    init(_ name: String, id: String, on loop: any EventLoop) {
        self.loop = loop
        self.id = PlugID(rawValue: id)!
        let identity = PlugServer.Identity(
            id: self.id, name: name, capabilities: [.relay, .rename], firmware: "1.0", boot: boot)
        server = PlugServer(
            identity: identity, access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
    }

    func opened(_ connection: Connection) {
        connection.markPaired()
        connections[connection.id] = connection
        handle(.shell(.opened(PlugServer.Opening(connection.id, peer: connection.peer))))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.shell(.received(id, bytes))) }
    func writable(_ isWritable: Bool, on id: ConnectionID) { handle(.shell(.writable(id, isWritable))) }
    func closed(_ id: ConnectionID) { handle(.shell(.closed(id))) }

    func rename(_ name: String) { handle(.named(name, announcedAs: name)) }
    /// Renames the plug, as after a conflict with another host on the link.
    func displace(to name: String) { handle(.renamed(name)) }
    func switchRelay(on: Bool) { handle(.record(.relayChanged(on: on, cause: .button))) }
    func finish(_ request: RequestID) {
        handle(.commandOutcome(CommandID(request, of: .desk), .done(PlugState(relayOn: true), event: nil)))
    }
    func answer(_ answers: Bool) { self.answers = answers }
    func drop() { for connection in connections.values { connection.close() } }

    private func handle(_ event: PlugServer.Event) {
        for action in server.handle(event, now: BootClock.now) {
            switch action {
            case .shell(.send(let id, let bytes)): connections[id]?.send(bytes)
            case .shell(.close(let id, _)): connections[id]?.close()
            case .perform(let request, _, _, _):
                asked += 1
                if answers { handle(.commandOutcome(request, .done(PlugState(relayOn: true), event: nil))) }
            case .shell, .factoryReset, .fetch, .fetchAudit, .keep, .keepCode, .record:
                break
            }
        }
    }
}

/// A network of plugs with their names, and the changes that browsing reports.
private final class MadeUpNetwork: Sendable {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let changes: AsyncStream<ServiceChange>
    private let change: AsyncStream<ServiceChange>.Continuation
    private let dialer = Dialer(identity: TransportIdentity())
    private let ports = Mutex<[String: UInt16]>([:])

    private struct Unreachable: Error {}

    init() { (changes, change) = AsyncStream.makeStream() }

    func add(_ name: String, id: String) async throws -> (HousePlug, Listener) {
        let plug = HousePlug(name, id: id, on: loop)
        let listener = try await Listener.start(
            on: loop, identity: TransportIdentity(), loopbackOnly: true, owner: plug)
        try announce(name, plug, listener)
        return (plug, listener)
    }

    private func identity(_ name: String) -> ServiceIdentity {
        ServiceIdentity(name: name, type: PlugClient.serviceType, interface: 2)
    }

    func announce(_ name: String, _ plug: HousePlug, _ listener: Listener) throws {
        place(name, listener)
        change.yield(.found(identity(name), txt: try TXTRecord(["id": plug.id.rawValue])))
    }

    /// Makes the plug reachable without announcing it.
    func place(_ name: String, _ listener: Listener) { ports.withLock { $0[name] = listener.port } }

    /// Announces a host that is not a plug of the house.
    func forge(_ name: String, id: String) throws {
        ports.withLock { $0[name] = nil }
        change.yield(.found(identity(name), txt: try TXTRecord(["id": id])))
    }

    func withdraw(_ name: String) {
        ports.withLock { $0[name] = nil }
        change.yield(.lost(identity(name)))
    }

    /// Announces names without a reachable host.
    func flood(_ count: Int) throws {
        for number in 0..<count {
            let txt = try TXTRecord(["id": number.isMultiple(of: 2) ? "aaaaaaaaaaaa" : "cccccccccccc"])
            change.yield(.found(identity("False \(number)"), txt: txt))
        }
    }

    func house(paired: [PlugID: String] = [:]) -> HouseFollower {
        HouseFollower {
            paired
        } browse: { [changes] in
            changes
        } follow: { [self] name, known in
            let machine = PlugFollower(
                controllerName: "Desk", cursor: .now, known: known, stateOptions: StateOptions(), seed: 1)
            let plug = FollowedPlug(name: name, machine: machine, eventLoop: loop) { [self] followed in
                let name = await followed.announcedName
                guard let port = ports.withLock({ $0[name] }) else { throw Unreachable() }
                let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
                try await dialer.connect(to: [address], on: loop, owner: followed)
            }
            Task { await plug.locate() }
            return plug
        }
    }
}

extension HouseFollower {
    /// Runs the follower in a task. The stream keeps all updates and ends with the run.
    nonisolated func start() -> (updates: AsyncStream<Update>, running: Task<Void, Never>) {
        let (updates, update) = AsyncStream.makeStream(of: Update.self)
        let running = Task {
            await run { update.yield($0) }
            update.finish()
        }
        return (updates, running)
    }
}

@Suite(.timeLimit(.minutes(3))) struct HouseFollowerTests {
    private let network = MadeUpNetwork()

    /// Collects descriptions of the updates until all awaited ones have arrived, in any order.
    private func hear(_ updates: AsyncStream<HouseFollower.Update>, until awaited: Set<String>) async -> [String] {
        var heard: [String] = []
        var awaited = awaited
        for await update in updates {
            guard let words = words(update) else { continue }
            heard.append(words)
            awaited.remove(words)
            if awaited.isEmpty { break }
        }
        return heard
    }

    private func words(_ update: HouseFollower.Update) -> String? {
        switch update {
        case .found(let name): return "found \(name)"
        case .lost(let name): return "lost \(name)"
        case .report(let report):
            switch report.update {
            case .connected(let plug): return "\(report.plug) is \(plug.id)"
            case .snapshot: return "snapshot of \(report.plug)"
            case .disconnected: return "\(report.plug) away"
            case .event(let event, _): return "event \(event.sequence) of \(report.plug)"
            case .following, .state, .gap, .log: return nil
            }
        }
    }

    private func end(_ running: Task<Void, Never>, _ listeners: Listener...) async {
        running.cancel()
        await running.value
        for listener in listeners { await listener.stop() }
    }

    @Test("A paired plug is followed despite many false announcements", arguments: [false, true])
    func aPairedPlugIsFollowedBehindAFloodOfFalseAnnouncements(wasRenamed: Bool) async throws {
        try network.flood(1500)
        let id = try #require(PlugID(rawValue: "aaaaaaaaaaaa"))
        let (_, listener) = try await network.add(wasRenamed ? "Radiator" : "Heater", id: id.rawValue)
        let house = network.house(paired: [id: "Heater"])
        let (updates, running) = house.start()
        let name = wasRenamed ? "Radiator" : "Heater"
        _ = await hear(updates, until: ["snapshot of \(name)"])
        await end(running, listener)
    }

    @Test(
        "A command to an absent paired plug does not reach a plug whose name is equal or differs only in capitals",
        arguments: ["heater", "Heater"])
    func awayWhileAnotherHasItsName(announced: String) async throws {
        let away = try #require(PlugID(rawValue: "aaaaaaaaaaaa"))
        let id = try #require(PlugID(rawValue: "bbbbbbbbbbbb"))
        let (plug, listener) = try await network.add(announced, id: id.rawValue)
        let house = network.house(paired: [away: "Heater", id: "heater"])
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of heater"])
        var random = SystemRandomNumberGenerator()
        for name in ["Heater", "HEATER"] {
            #expect(await house.plug(named: name) == nil)
            let error = await #expect(throws: Refusal.self) {
                try await house.send(turnOn, to: name, id: RequestID(drawnFrom: &random))
            }
            // `HEATER` matches both plugs. `Heater` is the exact name of one plug, and matches only this plug.
            #expect(error?.detail.contains("\"Heater\" (\(away)) and \"heater\" (\(id))") == (name == "HEATER"))
        }
        #expect(await plug.asked == 0)
        _ = try await house.send(turnOn, to: "heater", id: RequestID(drawnFrom: &random))
        #expect(await plug.asked == 1)
        await end(running, listener)
    }

    /// Regression: the meaning of a name must not depend on who announces it. Nineteen forged records made a plug
    /// choose another name, and the rule that turned the plug off no longer found it.
    @Test("A paired plug keeps its name when another host announces the name")
    func aNameStaysWithThePlugThatIsPairedUnderIt() async throws {
        let id = try #require(PlugID(rawValue: "aaaaaaaaaaaa"))
        let (heater, listener) = try await network.add("Heater", id: id.rawValue)
        let house = network.house(paired: [id: "Heater"])
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Heater"])
        await heater.displace(to: "Heater (2)")
        try network.announce("Heater (2)", heater, listener)
        try network.forge("Heater", id: "cccccccccccc")
        await heater.drop()
        let heard = await hear(updates, until: ["Heater away", "snapshot of Heater"])
        #expect(!heard.contains { $0.contains("found") || $0.contains("lost") || $0.contains("(2)") }, "\(heard)")
        let answer = try await house.send(.setRelay(on: true, autoOff: nil), to: "Heater", id: request(1))
        #expect(answer.state.relayOn)
        #expect(await heater.asked == 1)
        await heater.switchRelay(on: false)
        _ = await hear(updates, until: ["event 1 of Heater"])
        await end(running, listener)
    }

    /// Regression: a paired plug reports the name of a different paired plug.
    @Test("A paired plug that takes the name of a different one keeps its own name in the house")
    func noPairedPlugTakesTheNameOfAnother() async throws {
        let id = try #require(PlugID(rawValue: "aaaaaaaaaaaa"))
        let other = try #require(PlugID(rawValue: "bbbbbbbbbbbb"))
        let (lamp, first) = try await network.add("Lamp", id: id.rawValue)
        let (fan, second) = try await network.add("Fan", id: other.rawValue)
        let house = network.house(paired: [id: "Lamp", other: "Fan"])
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp", "snapshot of Fan"])
        await fan.rename("Lamp")
        await lamp.switchRelay(on: true)
        await fan.switchRelay(on: true)
        await fan.switchRelay(on: false)
        _ = await hear(updates, until: ["event 1 of Lamp", "event 2 of Fan"])
        await end(running, first, second)
    }

    @Test("A paired plug that the user renames is reported as lost under the old name and found under the new one")
    func aPairedPlugThatAPersonRenamesIsAwayAndFoundAnew() async throws {
        let id = try #require(PlugID(rawValue: "aaaaaaaaaaaa"))
        let (lamp, listener) = try await network.add("Lamp", id: id.rawValue)
        let house = network.house(paired: [id: "Lamp"])
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp"])
        await lamp.rename("Lounge")
        try network.announce("Lounge", lamp, listener)
        network.withdraw("Lamp")
        let heard = await hear(updates, until: ["lost Lamp", "snapshot of Lounge"])
        #expect(heard.filter { $0.contains("Lamp") } == ["Lamp away", "lost Lamp"])
        #expect(try await house.send(.setRelay(on: true, autoOff: nil), to: "Lounge", id: request(1)).state.relayOn)
        await end(running, listener)
    }

    @Test("A renamed plug is disconnected and lost under the old name")
    func aPlugThatTakesAnotherNameIsAwayAndLostUnderTheOldOne() async throws {
        let (lamp, listener) = try await network.add("Lamp", id: "aaaaaaaaaaaa")
        let house = network.house()
        let (updates, running) = house.start()
        #expect(await hear(updates, until: ["snapshot of Lamp"]).prefix(2) == ["found Lamp", "Lamp is aaaaaaaaaaaa"])
        await lamp.rename("Lounge")
        try network.announce("Lounge", lamp, listener)
        network.withdraw("Lamp")
        let heard = await hear(updates, until: ["lost Lamp", "Lounge is aaaaaaaaaaaa"])
        #expect(heard.filter { $0.contains("Lamp") } == ["Lamp away", "lost Lamp"])
        #expect(await house.plug(named: "Lamp") == nil)
        await end(running, listener)
    }

    @Test("Undelivered events under the old name are delivered before the connection under the new name")
    func eventsThatWaitForTheReaderComeBeforeThoseUnderTheNewName() async throws {
        let (lamp, listener) = try await network.add("Lamp", id: "aaaaaaaaaaaa")
        let house = network.house()
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp"])
        for number in 1...3 { await lamp.switchRelay(on: number.isMultiple(of: 2)) }
        await lamp.rename("Lounge")
        try network.announce("Lounge", lamp, listener)
        while await house.plug(named: "Lamp") != nil { await Task.yield() }
        await lamp.switchRelay(on: true)
        let heard = await hear(updates, until: ["event 4 of Lounge"])
        let old = heard.filter { $0.contains("Lamp") }
        #expect(
            old == ["event 1 of Lamp", "event 2 of Lamp", "event 3 of Lamp", "Lamp away", "lost Lamp"])
        // The update `found Lounge` may precede the events of Lamp.
        let reached = try #require(heard.firstIndex(of: "Lounge is aaaaaaaaaaaa"))
        #expect(!heard[reached...].contains { $0.contains("Lamp") })
        await end(running, listener)
    }

    @Test("A name that is still announced is followed immediately after a rename back to it")
    func aNameThatIsStillAnnouncedIsFollowedAtOnce() async throws {
        let (lamp, listener) = try await network.add("Lamp", id: "aaaaaaaaaaaa")
        let house = network.house()
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp"])
        await lamp.rename("Lounge")
        // The goodbye for the first name is lost.
        try network.announce("Lounge", lamp, listener)
        _ = await hear(updates, until: ["lost Lamp", "snapshot of Lounge"])
        await lamp.rename("Lamp")
        let heard = await hear(updates, until: ["lost Lounge", "snapshot of Lamp"])
        #expect(heard.contains("found Lamp"))
        await end(running, listener)
    }

    @Test("A rename that changes only the capitalization changes nothing")
    func otherCapitalsChangeNothing() async throws {
        let (lamp, listener) = try await network.add("lamp", id: "aaaaaaaaaaaa")
        let house = network.house()
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of lamp"])
        await lamp.rename("Lamp")
        await lamp.switchRelay(on: true)
        #expect(await hear(updates, until: ["event 1 of lamp"]) == ["event 1 of lamp"])
        #expect(await house.plug(named: "Lamp") != nil)
        await end(running, listener)
    }

    @Test("Two plugs that swap their names are both followed under their new names, even if the reader is slow")
    func twoPlugsSwapTheirNamesWhileTheReaderIsSlow() async throws {
        let (lamp, first) = try await network.add("Lamp", id: "aaaaaaaaaaaa")
        let (fan, second) = try await network.add("Fan", id: "bbbbbbbbbbbb")
        let house = network.house()
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp", "snapshot of Fan"])
        await lamp.rename("Fan")
        await fan.rename("Lamp")
        try network.announce("Lamp", fan, second)
        try network.announce("Fan", lamp, first)
        let heard = await hear(updates, until: ["Lamp is bbbbbbbbbbbb", "Fan is aaaaaaaaaaaa"])
        #expect(heard.filter { $0.hasSuffix("away") }.sorted() == ["Fan away", "Lamp away"])
        await end(running, first, second)
    }

    @Test("A command that is sent before a rename is answered after it")
    func aCommandUnderWayGoesOnUnderTheNewName() async throws {
        let (lamp, listener) = try await network.add("Lamp", id: "aaaaaaaaaaaa")
        let house = network.house()
        let (updates, running) = house.start()
        _ = await hear(updates, until: ["snapshot of Lamp"])
        await lamp.answer(false)
        let waiting = Task { try await house.send(.identify, to: "Lamp", id: request(1)) }
        while await lamp.asked == 0 { await Task.yield() }
        await lamp.rename("Lounge")
        try network.announce("Lounge", lamp, listener)
        while await house.plug(named: "Lounge") == nil { await Task.yield() }
        await lamp.answer(true)
        // The plug still executes the first request and ignores its repetition. It executes a different request.
        let again = try await house.send(.identify, to: "Lounge", id: request(2))
        #expect(again.state.relayOn)
        await lamp.finish(request(1))
        #expect(try await waiting.value.state.relayOn)
        await end(running, listener)
    }
}
