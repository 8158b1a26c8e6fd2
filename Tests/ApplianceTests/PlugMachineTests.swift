import Appliance
import Metering
import PlugModel
import ProtocolCore
import Testing

@Suite struct PlugMachineTests {
    @Test("A command switches the relay, and its answer names the event")
    func aCommandMovesTheRelayAndItsAnswerNamesTheEvent() {
        var house = House()
        house.join(desk, name: "Desk")
        house.actions = []
        let next = house.machine.nextSequence
        house.hear(
            desk, .command(request(1), .setRelay(on: true, autoOff: nil), deadline: house.now + .seconds(5)))
        #expect(house.actions.filter { !$0.isStorage } == [.part(.setRelay(true)), .part(.setLight(true))])
        #expect(house.machine.state.relayOn)
        let outcomes = house.heard[desk]!.compactMap { update -> CommandOutcome? in
            if case .commandFinished(request(1), let outcome) = update { outcome } else { nil }
        }
        guard outcomes.count == 1, case .done(let state, event: next) = outcomes[0] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(state.relayOn)
        let events = house.events(desk)
        #expect(events.map(\.sequence) == [next])
        #expect(
            events.map(\.kind) == [
                .relayChanged(on: true, cause: .controller(name: "Desk", request: request(1), authority: .desk))
            ])
    }

    @Test("Sleepers are sent with every later state, but not with the answers to commands")
    func sleepers() {
        var house = House()
        house.join(desk, name: "Desk")
        let sleepers = [PlugSleeper(host: "nas.local", card: "02:00:00:00:00:10", asleepSince: .zero, sleeps: 1)]
        house.feed(.sleepers(sleepers))
        house.run(for: .seconds(5))
        house.command(request(1), .setRelay(on: true, autoOff: nil))
        let states = house.heard[desk, default: []].compactMap { update in
            if case .state(let state) = update { state } else { nil }
        }
        #expect(states.last?.relayOn == true && states.last?.sleepers == sleepers)
        guard case .done(let state, _)? = house.outcomes(desk, of: request(1)).first else {
            Issue.record("the command has no answer")
            return
        }
        #expect(state.relayOn && state.sleepers.isEmpty)
        house.join(hall, name: "Hall")
        let snapshots = house.heard[hall, default: []].compactMap { update in
            if case .snapshot(let state) = update { state.sleepers } else { nil }
        }
        #expect(snapshots == [sleepers])
    }

    @Test("A command without effect and a refused command record no event")
    func aCommandThatChangesNothingAndOneThatIsRefusedRecordNothing() {
        var house = House()
        house.join(desk, name: "Desk")
        let next = house.machine.nextSequence
        let commands: [PlugCommand] = [
            .setRelay(on: false, autoOff: nil), .setLevel(.full, transition: .zero),
            .setRelay(on: true, autoOff: .seconds(31 * 86_400)),
        ]
        for (number, command) in commands.enumerated() {
            house.hear(desk, .command(request(UInt8(number)), command, deadline: house.now + .seconds(5)))
        }
        #expect(house.machine.nextSequence == next)
        let codes = house.heard[desk]!.compactMap { update -> Refusal.Code?? in
            guard case .commandFinished(_, let outcome) = update else { return nil }
            if case .refused(let refusal) = outcome { return .some(refusal.code) }
            return .some(nil)
        }
        #expect(codes == [nil, .unsupported, .outOfRange])
    }

    @Test("A press of the button reaches every subscriber with the same events")
    func aPressOfTheButtonReachesEverySubscriberInTheSameStep() {
        var house = House()
        house.join(desk, name: "Desk")
        house.join(hall, name: "Hall")
        house.run(for: .seconds(1))
        house.edge(down: true)
        house.run(for: .milliseconds(100))
        house.edge(down: false)
        house.run(for: .seconds(1))
        let kinds: [PlugEvent.Kind] = [.relayChanged(on: true, cause: .button), .buttonPressed(.single)]
        #expect(house.events(desk).map(\.kind) == kinds)
        #expect(house.events(hall) == house.events(desk))
        #expect(house.actions.contains(.part(.setRelay(true))))
    }

    @Test("Samples of several chunks are fetched completely and in order")
    func samplesAreFetchedOverSeveralChunksWholeAndInOrder() throws {
        var house = House(PlugMemory(appliance: ApplianceMemory(StoredState(relayOn: true), powerLost: false)))
        house.run(for: .seconds(10_000))
        house.join(desk, name: "Desk")
        house.hear(desk, .fetchSamples(3, from: .zero, to: house.now))
        var times: [Int64] = []
        var lasts: [Bool] = []
        for case .samples(fetch: 3, let chunk, let last) in house.heard[desk]! {
            times += try SampleChunk(bytes: chunk).samples().map(\.milliseconds)
            lasts.append(last)
        }
        #expect(lasts == [false, false, true])
        #expect(times == (0...10_000).map { $0 * 1000 })
    }

    @Test("A fetch returns only the chunks with samples of its span, or an empty chunk if it has no samples")
    func aFetchOfAPartBringsTheChunksThatHaveItAndOneOfNothingAnEmptyOne() throws {
        var house = House(PlugMemory(appliance: ApplianceMemory(StoredState(relayOn: true), powerLost: false)))
        house.run(for: .seconds(10_000))
        house.join(desk, name: "Desk")
        house.hear(desk, .fetchSamples(1, from: at(5000), to: at(5001)))
        house.hear(desk, .fetchSamples(2, from: at(20_000), to: at(30_000)))
        let fetched = house.heard[desk]!.compactMap { update -> (UInt32, Int, Bool)? in
            guard case .samples(let fetch, let chunk, let last) = update else { return nil }
            return (fetch, chunk.isEmpty ? 0 : (try? SampleChunk(bytes: chunk).count) ?? -1, last)
        }
        #expect(fetched.map(\.0) == [1, 2])
        #expect(fetched.map(\.1) == [SampleChunk.sampleLimit, 0])
        #expect(fetched.map(\.2) == [true, true])
    }

    @Test("The machine wakes at the deadlines of the meter and of the sessions")
    func eachPartIsWokenAtItsOwnDeadline() {
        var house = House()
        #expect(house.machine.nextDeadline == at(1), "the deadline must be that of the next measurement")
        house.join(desk, name: "Desk")
        house.feed(.server(.writable(desk, false)))
        house.heard = [:]
        // The controllers no longer answer the plug's pings. The measurements continue.
        house.controllers = [:]
        house.run(for: .seconds(44))
        #expect(house.machine.connections.count == 1)
        #expect(!house.actions.contains { if case .server(.close) = $0 { true } else { false } })
        house.run(for: .seconds(1))
        #expect(house.machine.connections.isEmpty)
        #expect(house.machine.state.reading?.time == at(45))
        guard case .server(.close(desk, .ended(let goodbye))) = house.actions.last(where: { !$0.isStorage }) else {
            Issue.record("\(house.actions)")
            return
        }
        #expect(goodbye.reason == .silent)
    }

    @Test("The end of a command's auto-off timer is recorded as an event") func theTimerOfTheApplianceEndsInAnEvent() {
        var house = House()
        house.join(desk, name: "Desk")
        let command = PlugCommand.setRelay(on: true, autoOff: .milliseconds(1500))
        house.hear(desk, .command(request(1), command, deadline: house.now + .seconds(5)))
        house.run(for: .milliseconds(1499))
        #expect(house.machine.state.relayOn)
        house.run(for: .milliseconds(1))
        #expect(house.events(desk).last?.kind == .relayChanged(on: false, cause: .timer))
        #expect(house.events(desk).last?.time == at(1.5))
    }

    @Test("A stop writes the state and ends all sessions") func stoppingWritesTheStateAndSaysGoodbyeToAll() {
        var house = House()
        house.join(desk, name: "Desk")
        house.join(hall, name: "Hall")
        house.hear(
            desk, .command(request(1), .setRelay(on: true, autoOff: nil), deadline: house.now + .seconds(5)))
        house.actions = []
        house.feed(.stopping)
        let goodbye = Goodbye(.stopping, "The plug is stopping; it may return soon.")
        #expect(
            house.actions == [
                .server(.close(desk, .ended(goodbye))), .server(.close(hall, .ended(goodbye))),
                .persist(StoredState(relayOn: true)),
                .reserve(upTo: house.machine.nextSequence),
            ])
        house.actions = []
        house.edge(down: true)
        house.run(for: .seconds(10))
        #expect(house.actions.isEmpty, "a stopped plug performed an action")
        for id in [desk, hall] { #expect(house.heard[id]?.last == .ended(.endedByPeer(goodbye))) }
        #expect(house.machine.connections.isEmpty)
    }

    @Test("After a change of the name, a new session receives the new name") func aNewNameIsToldToWhoComesNext() {
        var house = House()
        house.feed(.renamed("Lamp (2)"))
        house.join(desk, name: "Desk")
        guard case .welcomed(let plug) = house.heard[desk]?.first else {
            Issue.record("no Welcome")
            return
        }
        #expect(plug.name == "Lamp (2)")
        #expect(house.machine.identity.name == "Lamp (2)")
    }

    @Test("Log lines are sent to the session that follows the log until its time is over")
    func linesOfTheLogGoToWhoFollowsUntilTheTimeIsOver() {
        var house = House()
        house.join(desk, name: "Desk")
        house.join(hall, name: "Hall")
        house.hear(desk, .followLog(.debug, for: .seconds(10)))
        #expect(house.actions.contains(.server(.logLevel(.debug))))
        let line = LogLine(number: 1, time: house.now, level: .debug, part: "PlugService", message: "relay on")
        house.feed(.server(.logged([line], lost: 0)))
        #expect(house.heard[desk]!.contains(.log(.line(line))))
        #expect(!house.heard[hall]!.contains(.log(.line(line))))
        house.actions = []
        house.run(for: .seconds(11))
        #expect(house.actions.contains(.server(.logLevel(nil))))
        #expect(house.heard[desk]!.contains(.log(.ended)))
    }
}
