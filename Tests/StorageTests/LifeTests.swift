import Appliance
import PlugModel
import ProtocolCore
import Testing

@testable import Storage

/// Tests of the plug's memory after each way in which its process can end.
@Suite struct LifeTests {
    private let directories = Directories()

    private func start(boot: BootID = firstBoot, at now: Instant = .zero) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, at: now)
    }

    /// Runs a plug and discards it at the end, like a killed process.
    private func life<Value>(
        boot: BootID = firstBoot, at now: Instant = .zero, limits: PlugMemory.Limits = PlugMemory.Limits(),
        _ body: (inout StoredPlug) throws -> Value
    ) throws -> Value {
        var plug = try StoredPlug(in: directories, boot: boot, at: now, limits: limits)
        return try body(&plug)
    }

    /// Presses a plug three times and kills it. Returns its id, the number of its next event, its events and the time.
    private func killed() throws -> (id: PlugID, next: SequenceNumber, events: [PlugEvent], now: Instant) {
        try life { plug in
            for _ in 0..<3 { plug.press() }
            return (plug.storage.id, plug.next, plug.events, plug.now)
        }
    }

    @Test("A new plug reserves 1000 event numbers, and its first event has the number 1")
    func aNewPlugBeginsAtOneAndReservesFirst() throws {
        let plug = try start()
        #expect(plug.events.map(\.kind) == [.restarted(powerLost: true)])
        #expect(plug.next == 2)
        #expect(directories.text("state/sequence") == "1001\n1001\n")
        #expect(directories.text("state/id") == "\(plug.storage.id)\n\(plug.storage.id)\n")
        #expect(plug.resume(after: 0) == .resumed)
    }

    @Test("After a kill, the plug continues with its next event number")
    func aKilledPlugGoesOnExactlyWhereItWas() throws {
        let before = try killed()
        let after = try start(at: before.now)
        #expect(after.storage.id == before.id)
        #expect(after.events.dropLast() == before.events[...])
        #expect(after.events.last?.kind == .restarted(powerLost: false))
        #expect(after.events.last?.sequence == before.next)
        #expect(after.resume(after: 0) == .resumed)
        #expect(after.relayOn, "the relay is on after three presses")
        #expect(directories.text("state/sequence") == "1001\n1001\n", "a kill needs no write to flash")
        #expect(directories.text("state/state") == nil)
    }

    @Test("Events that wait for their event numbers survive a kill")
    func eventsThatWaitForTheirNumbersSurviveAKill() throws {
        var limits = PlugMemory.Limits()
        limits.reservation = 4
        let (before, now) = try life(limits: limits) { plug in
            plug.isFlashSlow = true
            for _ in 0..<3 { plug.press() }
            return (plug.machine.memory, plug.now)
        }
        #expect(before.unnumbered.count == 3)
        #expect(directories.text("state/sequence") == "5\n5\n")
        let after = try StoredPlug(in: directories, at: now, limits: limits)
        let numbered = before.journal.read(after: 0, limit: 99)
        #expect(after.events.prefix(4) == numbered[...])
        #expect(after.events[4..<7].map { UnnumberedEvent($0.kind, at: $0.time) } == before.unnumbered)
        #expect(after.events.map(\.sequence) == Array(1...8))
        #expect(after.resume(after: 0) == .resumed)
    }

    @Test("A plug that is killed repeatedly loses no event") func killedAgainAndAgainItForgetsNothing() throws {
        var last: SequenceNumber = 0
        var now = Instant.zero
        for round in 1...20 {
            var plug = try start(at: now)
            #expect(plug.resume(after: 0) == .resumed)
            #expect(plug.next == last + 2 || round == 1)
            plug.press()
            last = plug.next - 1
            now = plug.now
        }
        #expect(last == 60)
    }

    @Test("After an orderly stop, the event numbers continue and flash has the state")
    func afterAnOrderlyStopNumbersGoOnAndFlashHasAll() throws {
        let (next, energy, now) = try life { plug in
            plug.press()
            plug.run(for: .seconds(75))
            plug.feed(.stopping)
            return (plug.next, plug.state?.milliwattHours ?? 0, plug.now)
        }
        #expect(directories.text("state/sequence") == "\(next)\n\(next)\n")
        #expect(directories.text("state/state") == "on 1000 \(energy)\non 1000 \(energy)\n")
        let after = try start(at: now)
        #expect(after.events.last?.sequence == next)
        #expect(after.resume(after: 0) == .resumed)
        #expect(directories.text("state/sequence") == "\(next + 1000)\n\(next + 1000)\n")
    }

    @Test("After an orderly stop and a loss of power, a controller that has all events gets no gap")
    func anOrderlyStopAndALossOfPowerLeaveNoGapToWhoSawAll() throws {
        let next = try life { plug in
            plug.press()
            plug.feed(.stopping)
            return plug.next
        }
        let after = try start(boot: secondBoot)
        #expect(after.events.first?.sequence == next)
        #expect(after.events.first?.kind == .restarted(powerLost: true))
        #expect(after.resume(after: next - 1) == .resumed)
        #expect(after.resume(after: 1) == .gap(Gap(from: 2, to: next - 1, reason: .powerLost)))
    }

    @Test(
        "After a loss of power, the unused event numbers up to the boundary are a gap",
        arguments: [firstBoot, secondBoot])
    func aLossOfPowerIsAGapUpToTheBoundary(boot: BootID) throws {
        let before = try killed()
        // A loss of power erases the memory. Removing the runtime directory has the same effect.
        if boot == firstBoot { try directories.remove("runtime") }
        let after = try start(boot: boot)
        #expect(after.storage.id == before.id)
        #expect(after.events.map(\.sequence) == [1001])
        #expect(after.events.map(\.kind) == [.restarted(powerLost: true)])
        #expect(
            after.resume(after: before.next - 1) == .gap(Gap(from: before.next, to: 1000, reason: .powerLost)))
        #expect(after.machine.memory.samples.count == 1)
    }

    @Test("After a loss of power the relay is restored from flash")
    func theRelayComesBackAsFlashKnewItAfterALossOfPower() throws {
        try life { plug in
            plug.press()
            plug.run(for: .seconds(75))
        }
        #expect(try start(boot: secondBoot).relayOn)
    }

    @Test("A mirror of a different plug is rejected") func aMirrorOfAnotherPlugIsNotTaken() throws {
        let before = try killed()
        try directories.write("ba9876543210\nba9876543210\n", to: "state/id")
        let after = try start(at: before.now)
        #expect(after.storage.id.rawValue == "ba9876543210")
        #expect(after.events.map(\.sequence) == [1001])
    }

    @Test("A truncated last record of the mirror is ignored, because its event was not sent")
    func aRecordThatWasCutOffWasNotToldAndIsForgotten() throws {
        let before = try killed()
        let bytes = try #require(directories.bytes("runtime/mirror"))
        try directories.write(bytes.dropLast(), to: "runtime/mirror")
        let after = try start(at: before.now)
        #expect(after.events.dropLast() == before.events[...])
        #expect(after.resume(after: 0) == .resumed)
    }

    @Test("A damaged mirror counts as a loss of power") func aDamagedMirrorCountsAsALossOfPower() throws {
        let before = try killed()
        var bytes = try #require(directories.bytes("runtime/mirror"))
        bytes[bytes.count / 2] ^= 1
        try directories.write(bytes[...], to: "runtime/mirror")
        let notices = Notices()
        let after = try StoredPlug(in: directories, at: before.now, notices: notices)
        #expect(after.events.map(\.sequence) == [1001])
        #expect(notices.troubles.count == 1)
        #expect(notices.troubles.first?.hasPrefix("the mirror is damaged: ") == true)
    }

    @Test("A second plug in either directory is refused") func aSecondPlugInEitherDirectoryIsRefused() throws {
        let plug = try start()
        let same = #expect(throws: (any Error).self) { try StoredPlug(in: directories) }
        #expect("\(same!)".hasPrefix("\(directories.state) is in use by process "))
        var random = SeededRandom(seed: 1)
        let shared = #expect(throws: (any Error).self) {
            try PlugStorage(
                state: directories.root + "/other", runtime: directories.runtime, boot: firstBoot, random: &random
            ) { _ in }
        }
        #expect("\(shared!)".hasPrefix("\(directories.runtime) is in use by process "))
        #expect(plug.next == 2)
    }

    @Test("The mirror stays small and survives a rewrite")
    func theMirrorStaysSmallAndSurvivesBeingWrittenAnew() throws {
        var limits = PlugMemory.Limits()
        limits.journal.events = 100
        limits.samples = 20_000
        var longest = 0
        let (before, now) = try life(limits: limits) { plug in
            for _ in 0..<300 {
                plug.press()
                plug.run(for: .seconds(100))
                longest = max(longest, directories.bytes("runtime/mirror")?.count ?? 0)
            }
            return (plug.machine.memory, plug.now)
        }
        #expect((200_000..<270_000).contains(longest))
        let after = try StoredPlug(in: directories, at: now, limits: limits).machine.memory
        #expect(after.journal.count == 100)
        #expect(after.journal.read(after: 0, limit: 99) == Array(before.journal.read(after: 0, limit: 100).dropFirst()))
        #expect(after.samples.sealed == before.samples.sealed)
        #expect(after.appliance.state == before.appliance.state)
    }
}
