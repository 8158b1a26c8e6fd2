import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct PlugMemoryTests {
    @Test("The actions are in this order: hardware, mirror, messages, flash")
    func partsMoveFirstThenTheMirrorThenTheWireThenFlash() {
        // After the next event only 500 numbers are left, half of a reservation, so the plug reserves more.
        var house = House(PlugMemory(appliance: ApplianceMemory(powerLost: false), reservedBelow: 503))
        house.join(desk, name: "Desk")
        var now = house.now
        var actions: [PlugMachine.Action] = []
        for down in [true, false] {
            _ = house.machine.handle(.appliance(.buttonEdge(down: down, at: now)), now: now)
            now = now + .milliseconds(20)
            actions = house.machine.handle(.deadlineReached, now: now)
        }
        guard actions.count == 6, case .mirror(let records) = actions[2], case .server(.send(desk, _)) = actions[3],
            case .server(.send(desk, _)) = actions[4]
        else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions[..<2] == [.part(.setRelay(true)), .part(.setLight(true))])
        #expect(actions[5] == .reserve(upTo: 1003))
        #expect(records.count == 2)
        guard case .event(let event) = records.first else { return }
        #expect(event.kind == .relayChanged(on: true, cause: .button))
        #expect(records.last == .state(StoredState(relayOn: true), ApplianceMemory.Timers()))
    }

    @Test("After a kill of the process, the event numbers continue and no event is lost")
    func afterAKillNumbersGoOnAndNothingIsLost() throws {
        var house = House()
        for _ in 0..<3 { house.press() }
        let next = house.machine.nextSequence
        var again = try house.restarted()
        #expect(again.machine.nextSequence == next + 1, "the event of the restart does not have the next number")
        #expect(again.machine.state.relayOn)
        again.join(desk, name: "Desk", events: .after(0))
        #expect(again.gaps(desk).isEmpty)
        #expect(again.events(desk).map(\.sequence) == Array(1...next))
        #expect(again.events(desk).last?.kind == .restarted(powerLost: false))
    }

    @Test("After a kill, energy and samples are complete up to the last sample")
    func energyAndSamplesSurviveAKillToTheLastOne() throws {
        var house = House()
        house.press()
        house.run(for: .seconds(5000))
        let energy = house.machine.memory.appliance.state?.milliwattHours
        // 60 W from the sample at 1 s to the sample at 5001 s, and a rise from 0 W to 60 W in the first second.
        #expect(energy == 83_341)
        let again = try house.restarted()
        #expect(again.machine.memory.appliance.state?.milliwattHours == energy)
        let samples = { (house: House) in
            try house.machine.memory.samples.chunks(from: .zero, through: house.now).flatMap { try $0.samples() }
        }
        let kept = try samples(house)
        #expect(kept.map(\.milliseconds) == (0...5001).map { $0 * 1000 })
        #expect(try samples(again) == kept + [Sample(milliseconds: 5001_100, deciwatts: 600)])
        // The restart did not seal the open chunk.
        #expect(house.machine.memory.samples.sealed.map(\.count) == [SampleChunk.sampleLimit])
        #expect(again.machine.memory.samples.sealed == house.machine.memory.samples.sealed)
    }

    @Test("A request that is repeated after a kill gets the same answer and is not performed again")
    func aRequestThatComesAgainAfterAKillIsAnsweredAndNotRepeated() throws {
        var house = House(dimmer: true)
        house.join(desk, name: "Desk")
        house.command(request(1), .setRelay(on: true, autoOff: nil))
        house.command(request(2), .setLevel(DimLevel(percent: 30), transition: .zero))
        house.command(request(3), .setLevel(DimLevel(percent: 60), transition: .zero))
        house.command(request(4), .setLevel(.full, transition: .seconds(7200)))
        let next = house.machine.nextSequence
        let before = (1...4).map { house.outcomes(desk, of: request($0)) }
        #expect(before.map(\.count) == [1, 1, 1, 1])

        var again = try house.restarted()
        #expect(again.machine.state.level == DimLevel(percent: 60))
        again.join(desk, name: "Desk")
        again.command(request(2), .setLevel(DimLevel(percent: 30), transition: .zero))
        again.command(request(1), .setRelay(on: true, autoOff: nil))
        again.command(request(4), .setLevel(.full, transition: .seconds(7200)))
        #expect(again.machine.state.level == DimLevel(percent: 60), "a repeated request was carried out again")
        #expect(again.machine.nextSequence == next + 1)
        #expect([1, 2, 4].map { again.outcomes(desk, of: request($0)) } == [before[0], before[1], before[3]])
    }

    @Test("A command without a stored outcome is answered from its event after a kill")
    func aCommandWhoseOutcomeAKillTookIsRememberedLongerThanItsEvent() {
        var memory = PlugMemory(appliance: ApplianceMemory(StoredState(relayOn: true), powerLost: false))
        let boot = House().machine.identity.boot
        let kind = PlugEvent.Kind.relayChanged(
            on: true, cause: .controller(name: "Desk", request: request(1), authority: .desk))
        let isTaken = memory.restore(
            .event(PlugEvent(sequence: 1, boot: boot, time: .zero, kind: kind)), limits: PlugMemory.Limits())
        #expect(isTaken)
        let house = House(memory)
        let finished = FinishedRequest(CommandID(request(1), of: .desk), .done(PlugState(relayOn: true), event: 1))
        #expect(house.machine.memory.requests == [finished])
        let isMirrored = house.actions.contains {
            if case .mirror(let records) = $0 { records.contains(.request(finished)) } else { false }
        }
        #expect(isMirrored)
    }

    @Test("An auto-off timer continues after a kill") func aTimerThatRanWhenTheProcessWasKilledRunsOn() throws {
        var house = House()
        house.join(desk, name: "Desk")
        house.command(request(1), .setRelay(on: true, autoOff: .seconds(600)))
        house.run(for: .seconds(100))
        var again = try house.restarted()
        again.run(for: .seconds(499))
        #expect(again.machine.state.relayOn)
        again.run(for: .seconds(1))
        #expect(!again.machine.state.relayOn)
    }

    @Test("State that flash lacks after a kill is written 75 s after the restart")
    func whatFlashLacksAfterAKillIsWrittenSoon() throws {
        var house = House()
        house.run(for: .seconds(100))
        house.press()
        var memory = house.machine.memory
        memory.appliance.inFlash = StoredState()
        var again = House(memory, at: house.now)
        again.run(for: StateKeeper.spacing - .nanoseconds(1))
        #expect(
            again.actions.filter(\.isWrite).isEmpty,
            "the write is too early after the last write of the killed process")
        again.run(for: .nanoseconds(1))
        // The energy is 8 mWh from before the kill plus 60 W for the 74 s that were measured after it.
        #expect(again.actions.filter(\.isWrite) == [.persist(StoredState(relayOn: true, milliwattHours: 1241))])
    }

    @Test("After a kill, the energy is written 75 s after the restart, and not only after another hour")
    func killsDoNotPutOffTheWritingOfEnergy() throws {
        var house = House(PlugMemory(appliance: ApplianceMemory(StoredState(relayOn: true), powerLost: false)))
        house.run(for: .seconds(3600))
        var memory = house.machine.memory
        memory.appliance.inFlash = StoredState(relayOn: true)
        var again = House(memory, at: house.now)
        again.run(for: .seconds(3600))
        #expect(again.actions.filter(\.isWrite) == [.persist(StoredState(relayOn: true, milliwattHours: 61_233))])
    }

    // MARK: Numbers

    @Test("The next event numbers are reserved when half of the previous reservation is used")
    func theNextReservationIsAskedForAtHalf() {
        var house = House(PlugMemory(appliance: ApplianceMemory(powerLost: false), reservedBelow: 1001))
        house.isFlashWritable = true
        for _ in 0..<249 { house.press() }
        #expect(house.machine.nextSequence == 500)
        #expect(house.actions.filter(\.isReservation).isEmpty)
        house.press()
        #expect(house.actions.filter(\.isReservation) == [.reserve(upTo: 1501)])
        for _ in 0..<1000 { house.press() }
        // Within the hour, each reservation is twice the size of the previous one.
        #expect(house.actions.filter(\.isReservation) == [1501, 3001, 6001].map { .reserve(upTo: $0) })
        #expect(house.machine.nextSequence == 2502, "a number was skipped")
    }

    @Test("A plug that cannot write flash skips event numbers when its reserved numbers are used up")
    func aPlugThatCannotWriteUsesNoNumberAtTheBoundaryAndLeaps() {
        var house = House()
        house.isFlashWritable = false
        house.join(desk, name: "Desk")
        for _ in 0..<501 { house.press() }
        let sequences = house.events(desk).map(\.sequence)
        let leap = house.gaps(desk).first
        #expect(house.gaps(desk).count == 1)
        #expect(leap?.from == 1001 && leap?.reason == .storageFailed)
        let first = (leap?.to ?? 0) + 1
        #expect(ReservedNumbers.leapRange.contains(first - 1001))
        #expect(sequences == Array(2...1000) + Array(first..<first + 3))
        // The plug requests the boundary after 250 presses, and then 1, 2, 4, ... 128 s after the previous request.
        #expect(house.actions.filter(\.isReservation).count == 9)

        house.isFlashWritable = true
        house.run(for: .seconds(300))
        #expect(house.boundary == house.machine.nextSequence + 1000)
        for _ in 0..<1000 { house.press() }
        #expect(house.gaps(desk).count == 1, "numbers were skipped although flash can be written again")
    }

    @Test("A plug that does not know its next event number skips numbers before its first event")
    func aPlugThatDoesNotKnowItsNumbersLeapsBeforeTheFirst() {
        var house = House(
            PlugMemory(journal: EventJournal(nextSequence: 1, lossBefore: .storageFailed), reservedBelow: 0))
        house.join(desk, name: "Desk", events: .after(4711))
        let first = house.machine.nextSequence - 1
        #expect(ReservedNumbers.leapRange.contains(first - 1))
        #expect(house.gaps(desk) == [Gap(from: 4712, to: first - 1, reason: .storageFailed)])
        #expect(house.boundary > first)
    }

    @Test("A skip of event numbers survives a kill of the process") func aLeapOutlivesAKill() throws {
        var house = House()
        house.isFlashWritable = false
        for _ in 0..<501 { house.press() }
        let next = house.machine.nextSequence
        var again = try house.restarted()
        #expect(again.machine.nextSequence == next + 1, "the restart skipped numbers again")
        again.join(desk, name: "Desk", events: .after(990))
        again.run(for: .zero)
        #expect(again.gaps(desk).map(\.from) == [1001])
        #expect(again.events(desk).count == 10 + 3 + 1)
    }
}

extension PlugMachine.Action {
    fileprivate var isReservation: Bool { if case .reserve = self { true } else { false } }
    fileprivate var isWrite: Bool { if case .persist = self { true } else { false } }
}
