import Appliance
import Metering
import PlugProtocol
import ProtocolCore
import Testing

@Suite struct PlugMachineTests {
    private static let desk = ConnectionID(rawValue: 1)
    private static let hall = ConnectionID(rawValue: 2)
    private static let request = RequestID(bytes: [UInt8](repeating: 1, count: 16))!

    /// A plug with controllers at it, in virtual time.
    private struct House {
        var machine: PlugMachine
        var now = Instant.zero
        var controllers: [ConnectionID: ControllerSession] = [:]
        var heard: [ConnectionID: [SessionUpdate]] = [:]
        /// What is not for a controller, in order.
        var actions: [PlugMachine.Action] = []

        init(stored: StoredState? = nil, samples: SampleStore = SampleStore()) {
            let identity = PlugServer.Identity(
                id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .meter, .button],
                firmware: "1.0", boot: BootID(bytes: [UInt8](repeating: 7, count: 16))!)
            machine = PlugMachine(ApplianceConfiguration(), identity: identity, samples: samples)
            feed(.started(stored, powerLost: false))
        }

        mutating func feed(_ event: PlugMachine.Event) {
            for action in machine.handle(event, now: now) {
                switch action {
                case .send(let id, let bytes): hear(id, .received(bytes))
                case .readMeter: feed(.measured(Measurement(deciwatts: machine.state.relayOn ? 600 : 0)))
                case .setRelay, .setDimmer, .setLight, .persist, .close: actions.append(action)
                }
            }
        }

        mutating func hear(_ id: ConnectionID, _ event: ControllerSession.Event) {
            for action in controllers[id]?.handle(event, now: now) ?? [] {
                switch action {
                case .send(let bytes): feed(.received(id, bytes))
                case .deliver(let update): heard[id, default: []].append(update)
                case .close: break
                }
            }
        }

        mutating func join(_ id: ConnectionID, name: String) {
            controllers[id] = ControllerSession(name: name)
            feed(.opened(id, peer: "test"))
            hear(id, .connected)
            hear(id, .subscribe(SubscriptionOptions(events: .fromNow)))
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            while let deadline = machine.nextDeadline, deadline <= end {
                now = max(now, deadline)
                feed(.deadlineReached)
            }
            now = end
        }

        func events(_ id: ConnectionID) -> [PlugEvent] {
            heard[id, default: []].compactMap { if case .event(let event, _) = $0 { event } else { nil } }
        }
    }

    @Test func aCommandMovesTheRelayAndItsAnswerNamesTheEvent() {
        var house = House()
        house.join(Self.desk, name: "Desk")
        house.actions = []
        let next = house.machine.nextSequence
        house.hear(
            Self.desk, .command(Self.request, .setRelay(on: true, autoOff: nil), deadline: house.now + .seconds(5)))
        #expect(house.actions == [.setRelay(true), .setLight(true)])
        #expect(house.machine.state.relayOn)
        let outcomes = house.heard[Self.desk]!.compactMap { update -> CommandOutcome? in
            if case .commandFinished(Self.request, let outcome) = update { outcome } else { nil }
        }
        guard outcomes.count == 1, case .done(let state, event: next) = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(state.relayOn)
        let events = house.events(Self.desk)
        #expect(events.map(\.sequence) == [next])
        #expect(
            events.map(\.kind) == [.relayChanged(on: true, cause: .controller(name: "Desk", request: Self.request))])
    }

    @Test func aCommandThatChangesNothingAndOneThatIsRefusedRecordNothing() {
        var house = House()
        house.join(Self.desk, name: "Desk")
        let next = house.machine.nextSequence
        let commands: [PlugCommand] = [
            .setRelay(on: false, autoOff: nil), .setLevel(.full, transition: .zero),
            .setRelay(on: true, autoOff: .seconds(31 * 86_400)),
        ]
        for (number, command) in commands.enumerated() {
            let request = RequestID(bytes: [UInt8](repeating: UInt8(number), count: 16))!
            house.hear(Self.desk, .command(request, command, deadline: house.now + .seconds(5)))
        }
        #expect(house.machine.nextSequence == next)
        let codes = house.heard[Self.desk]!.compactMap { update -> Refusal.Code?? in
            guard case .commandFinished(_, let outcome) = update else { return nil }
            if case .refused(let refusal) = outcome { return .some(refusal.code) }
            return .some(nil)
        }
        #expect(codes == [nil, .unsupported, .outOfRange])
    }

    @Test func aPressOfTheButtonReachesEverySubscriberInTheSameStep() {
        var house = House()
        house.join(Self.desk, name: "Desk")
        house.join(Self.hall, name: "Hall")
        house.run(for: .seconds(1))
        house.feed(.buttonEdge(down: true))
        house.run(for: .milliseconds(100))
        house.feed(.buttonEdge(down: false))
        house.run(for: .seconds(1))
        let kinds: [PlugEvent.Kind] = [.relayChanged(on: true, cause: .button), .buttonPressed(.single)]
        #expect(house.events(Self.desk).map(\.kind) == kinds)
        #expect(house.events(Self.hall) == house.events(Self.desk))
        #expect(house.actions.contains(.setRelay(true)))
    }

    @Test func samplesAreFetchedOverSeveralChunksWholeAndInOrder() throws {
        var house = House(stored: StoredState(relayOn: true))
        house.run(for: .seconds(10_000))
        house.join(Self.desk, name: "Desk")
        house.hear(Self.desk, .fetchSamples(3, from: .zero, to: house.now))
        var times: [Int64] = []
        var lasts: [Bool] = []
        for case .samples(fetch: 3, let chunk, let last) in house.heard[Self.desk]! {
            times += try SampleChunk(bytes: chunk).samples().map(\.milliseconds)
            lasts.append(last)
        }
        #expect(lasts == [false, false, true])
        #expect(times == (0...10_000).map { $0 * 1000 })
    }

    @Test func aFetchOfAPartBringsTheChunksThatHaveItAndOneOfNothingAnEmptyOne() throws {
        var house = House(stored: StoredState(relayOn: true))
        house.run(for: .seconds(10_000))
        house.join(Self.desk, name: "Desk")
        house.hear(Self.desk, .fetchSamples(1, from: at(5000), to: at(5001)))
        house.hear(Self.desk, .fetchSamples(2, from: at(20_000), to: at(30_000)))
        let fetched = house.heard[Self.desk]!.compactMap { update -> (UInt32, Int, Bool)? in
            guard case .samples(let fetch, let chunk, let last) = update else { return nil }
            return (fetch, chunk.isEmpty ? 0 : (try? SampleChunk(bytes: chunk).count) ?? -1, last)
        }
        #expect(fetched.map(\.0) == [1, 2])
        #expect(fetched.map(\.1) == [SampleChunk.sampleLimit, 0])
        #expect(fetched.map(\.2) == [true, true])
    }

    @Test func eachPartIsWokenAtItsOwnDeadline() {
        var house = House()
        #expect(house.machine.nextDeadline == at(1), "the next measurement")
        house.join(Self.desk, name: "Desk")
        house.feed(.writable(Self.desk, false))
        house.heard = [:]
        // Nobody answers the plug's pings, and the meter goes on meanwhile.
        house.controllers = [:]
        house.run(for: .seconds(44))
        #expect(house.machine.connections.count == 1)
        #expect(!house.actions.contains { if case .close = $0 { true } else { false } })
        house.run(for: .seconds(1))
        #expect(house.machine.connections.isEmpty)
        #expect(house.machine.state.reading?.time == at(45))
        guard case .close(Self.desk, .ended(let goodbye)) = house.actions.last else {
            Issue.record("\(house.actions)")
            return
        }
        #expect(goodbye.reason == .silent)
    }

    @Test func theTimerOfTheApplianceEndsInAnEvent() {
        var house = House()
        house.join(Self.desk, name: "Desk")
        let command = PlugCommand.setRelay(on: true, autoOff: .milliseconds(1500))
        house.hear(Self.desk, .command(Self.request, command, deadline: house.now + .seconds(5)))
        house.run(for: .milliseconds(1499))
        #expect(house.machine.state.relayOn)
        house.run(for: .milliseconds(1))
        #expect(house.events(Self.desk).last?.kind == .relayChanged(on: false, cause: .timer))
        #expect(house.events(Self.desk).last?.time == at(1.5))
    }

    @Test func stoppingWritesTheStateAndSaysGoodbyeToAll() {
        var house = House()
        house.join(Self.desk, name: "Desk")
        house.join(Self.hall, name: "Hall")
        house.hear(
            Self.desk, .command(Self.request, .setRelay(on: true, autoOff: nil), deadline: house.now + .seconds(5)))
        house.actions = []
        house.feed(.stopping)
        let goodbye = Goodbye(.stopping, "The plug stops; it may be back soon.")
        #expect(
            house.actions == [
                .persist(StoredState(relayOn: true)), .close(Self.desk, .ended(goodbye)),
                .close(Self.hall, .ended(goodbye)),
            ])
        for id in [Self.desk, Self.hall] { #expect(house.heard[id]?.last == .ended(.endedByPeer(goodbye))) }
        #expect(house.machine.connections.isEmpty)
    }

    @Test func aNewNameIsToldToWhoComesNext() {
        var house = House()
        house.feed(.renamed("Lamp (2)"))
        house.join(Self.desk, name: "Desk")
        guard case .welcomed(let plug) = house.heard[Self.desk]?.first else {
            Issue.record("no Welcome")
            return
        }
        #expect(plug.name == "Lamp (2)")
        #expect(house.machine.identity.name == "Lamp (2)")
    }
}

private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
