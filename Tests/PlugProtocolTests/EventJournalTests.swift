import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct EventJournalTests {
    private func journal(from next: SequenceNumber = 1, events: Int, ring: Int = 4096) -> EventJournal {
        var journal = EventJournal(nextSequence: next, limits: EventJournal.Limits(events: ring))
        for second in 0..<events { journal.append(.buttonPressed(.single), time: at(Double(second)), boot: boot) }
        return journal
    }

    @Test("Sequence numbers start at the number that the journal was created with and increase by one")
    func numbersStartAtTheBoundaryAndRiseByOne() {
        let journal = journal(from: 100, events: 3)
        #expect(journal.read(after: 0, limit: 10).map(\.sequence) == [100, 101, 102])
        #expect(journal.nextSequence == 103)
        #expect(journal[101]?.time == at(1))
        #expect(journal[99] == nil)
        #expect(journal[103] == nil)
    }

    @Test("Reading continues after the cursor and stops at the limit")
    func readingGoesOnFromTheCursorAndStopsAtTheLimit() {
        let journal = journal(events: 5)
        #expect(journal.read(after: 2, limit: 2).map(\.sequence) == [3, 4])
        #expect(journal.read(after: 5, limit: 2).isEmpty)
        #expect(journal.read(after: 900, limit: 2).isEmpty)
        #expect(EventJournal().read(after: 0, limit: 2).isEmpty)
    }

    @Test("A full ring drops the oldest events by count")
    func theRingForgetsTheOldestByCount() {
        let journal = journal(events: 10, ring: 4)
        #expect(journal.oldestSequence == 7)
        #expect(journal.resume(after: 6) == .resumed)
        #expect(journal.resume(after: 2) == .gap(Gap(from: 3, to: 6, reason: .overwritten)))
        #expect(journal.resume(after: 10) == .resumed)
    }

    @Test("A full ring drops the oldest events by bytes")
    func theRingForgetsTheOldestByBytes() {
        let kind = PlugEvent.Kind.relayChanged(
            on: true, cause: .controller(name: String(repeating: "x", count: 63), request: request(1)))
        let bytes = PlugEvent(sequence: 1, boot: boot, time: .zero, kind: kind).footprint
        var journal = EventJournal(limits: EventJournal.Limits(events: 100, bytes: bytes * 3))
        for _ in 0..<10 { journal.append(kind, time: .zero, boot: boot) }
        #expect(journal.count == 3)
        #expect(journal.oldestSequence == 8)
    }

    @Test("After a power cut the gap ends directly before the first number of the new journal")
    func afterALossOfPowerTheGapReachesToTheBoundary() {
        #expect(
            journal(from: 1000, events: 0).resume(after: 17)
                == .gap(Gap(from: 18, to: 999, reason: .powerLost)))
        #expect(
            journal(from: 1000, events: 5).resume(after: 17)
                == .gap(Gap(from: 18, to: 999, reason: .powerLost)))
        #expect(journal(from: 1000, events: 5).resume(after: 999) == .resumed)
    }

    @Test("A cursor beyond the journal is unknown")
    func aCursorAheadOfTheJournalIsUnknown() {
        #expect(journal(events: 3).resume(after: 4) == .gap(Gap(from: 1, to: 3, reason: .unknownCursor)))
        #expect(EventJournal().resume(after: 9) == .gap(Gap(from: 1, to: 0, reason: .unknownCursor)))
        #expect(EventJournal().resume(after: 0) == .resumed)
    }

    // MARK: Skipped numbers

    /// A journal with events 1 to 3, a skip to 1000, and events 1000 to 1002.
    private func leapt(ring: Int = 4096) -> EventJournal {
        var journal = journal(events: 3, ring: ring)
        journal.leap(to: 1000, reason: .storageFailed)
        for second in 3..<6 { journal.append(.buttonPressed(.single), time: at(Double(second)), boot: boot) }
        return journal
    }

    @Test("A reader across skipped numbers gets the gap and all events")
    func whoReadsPastALeapIsToldTheGapAndMissesNoEvent() {
        let journal = leapt()
        #expect(journal.resume(after: 1) == .resumed)
        #expect(journal[3]?.time == at(2) && journal[4] == nil && journal[999] == nil && journal[1000]?.time == at(3))
        #expect(journal.resume(after: 3) == .gap(Gap(from: 4, to: 999, reason: .storageFailed)))
        #expect(journal.resume(after: 500) == .gap(Gap(from: 501, to: 999, reason: .storageFailed)))
        #expect(journal.resume(after: 999) == .resumed)
        #expect(journal.read(after: 0, limit: 10).map(\.sequence) == [1, 2, 3, 1000, 1001, 1002])
        #expect(journal.read(after: 3, limit: 2).map(\.sequence) == [1000, 1001])
        #expect(journal.nextSequence == 1003)
    }

    @Test("Skipped numbers are reported before any event follows")
    func aLeapIsToldBeforeAnyEventFollows() {
        var journal = journal(events: 2)
        journal.leap(to: 50, reason: .storageFailed)
        #expect(journal.resume(after: 2) == .gap(Gap(from: 3, to: 49, reason: .storageFailed)))
        #expect(journal.read(after: 2, limit: 5).isEmpty)
        var empty = EventJournal(nextSequence: 7)
        empty.leap(to: 50, reason: .storageFailed)
        #expect(empty.oldestSequence == 50)
        #expect(empty.resume(after: 6) == .gap(Gap(from: 7, to: 49, reason: .storageFailed)))
        #expect(empty.resume(after: 3) == .gap(Gap(from: 4, to: 49, reason: .powerLost)))
    }

    @Test("A full ring drops events on both sides of skipped numbers")
    func theRingOvertakesALeap() {
        #expect(leapt(ring: 4).read(after: 0, limit: 9).map(\.sequence) == [3, 1000, 1001, 1002])
        let journal = leapt(ring: 2)
        #expect(journal.oldestSequence == 1001)
        #expect(journal.read(after: 0, limit: 9).map(\.sequence) == [1001, 1002])
        #expect(journal.resume(after: 1) == .gap(Gap(from: 2, to: 1000, reason: .overwritten)))
        #expect(journal.resume(after: 3) == .gap(Gap(from: 4, to: 1000, reason: .storageFailed)))
    }

    @Test("A second skip drops the events before the first skip")
    func aSecondLeapLetsGoWhatWasBeforeTheFirst() {
        var journal = leapt()
        journal.leap(to: 5000, reason: .storageFailed)
        journal.append(.buttonPressed(.long), time: at(9), boot: boot)
        #expect(journal.read(after: 0, limit: 9).map(\.sequence) == [1000, 1001, 1002, 5000])
        #expect(journal.resume(after: 2) == .gap(Gap(from: 3, to: 999, reason: .overwritten)))
        #expect(journal.resume(after: 1002) == .gap(Gap(from: 1003, to: 4999, reason: .storageFailed)))
        var twice = EventJournal()
        twice.leap(to: 10, reason: .storageFailed)
        twice.leap(to: 20, reason: .storageFailed)
        #expect(twice.resume(after: 0) == .gap(Gap(from: 1, to: 19, reason: .storageFailed)))
    }

    @Test("An event is restored only if its number follows the previous one")
    func whatIsPutBackMustFollow() throws {
        let event = try #require(leapt()[1001])
        var again = EventJournal(nextSequence: 1001, lossBefore: .powerLost, origin: 900)
        let restored = [again.restore(event), again.restore(event)]
        #expect(restored == [true, false])
        #expect(again.nextSequence == 1002 && again[1001] == event)
        #expect(again.resume(after: 899) == .gap(Gap(from: 900, to: 1000, reason: .overwritten)))
        #expect(again.resume(after: 898) == .gap(Gap(from: 899, to: 1000, reason: .powerLost)))
    }
}
