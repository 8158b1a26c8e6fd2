import ProtocolCore
import Testing

@testable import PlugProtocol

@Suite struct EventJournalTests {
    private func journal(from next: SequenceNumber = 1, events: Int, ring: Int = 4096) -> EventJournal {
        var journal = EventJournal(nextSequence: next, limits: EventJournal.Limits(events: ring))
        for second in 0..<events { journal.append(.buttonPressed(.single), time: at(Double(second)), boot: boot) }
        return journal
    }

    @Test func numbersStartAtTheBoundaryAndRiseByOne() {
        let journal = journal(from: 100, events: 3)
        #expect(journal.read(after: 0, limit: 10).map(\.sequence) == [100, 101, 102])
        #expect(journal.nextSequence == 103)
        #expect(journal[101]?.time == at(1))
        #expect(journal[99] == nil)
        #expect(journal[103] == nil)
    }

    @Test func readingGoesOnFromTheCursorAndStopsAtTheLimit() {
        let journal = journal(events: 5)
        #expect(journal.read(after: 2, limit: 2).map(\.sequence) == [3, 4])
        #expect(journal.read(after: 5, limit: 2).isEmpty)
        #expect(journal.read(after: 900, limit: 2).isEmpty)
        #expect(EventJournal().read(after: 0, limit: 2).isEmpty)
    }

    @Test func theRingForgetsTheOldestByCount() {
        let journal = journal(events: 10, ring: 4)
        #expect(journal.oldestSequence == 7)
        #expect(journal.resume(after: 6) == .resumed)
        #expect(journal.resume(after: 2) == .gap(Gap(from: 3, to: 6, reason: .overwritten)))
        #expect(journal.resume(after: 10) == .resumed)
    }

    @Test func theRingForgetsTheOldestByBytes() {
        let kind = PlugEvent.Kind.relayChanged(
            on: true, cause: .controller(name: String(repeating: "x", count: 63), request: request(1)))
        let bytes = PlugEvent(sequence: 1, boot: boot, time: .zero, kind: kind).footprint
        var journal = EventJournal(limits: EventJournal.Limits(events: 100, bytes: bytes * 3))
        for _ in 0..<10 { journal.append(kind, time: .zero, boot: boot) }
        #expect(journal.count == 3)
        #expect(journal.oldestSequence == 8)
    }

    @Test func afterALossOfPowerTheGapReachesToTheBoundary() {
        #expect(
            journal(from: 1000, events: 0).resume(after: 17)
                == .gap(Gap(from: 18, to: 999, reason: .powerLost)))
        #expect(
            journal(from: 1000, events: 5).resume(after: 17)
                == .gap(Gap(from: 18, to: 999, reason: .powerLost)))
        #expect(journal(from: 1000, events: 5).resume(after: 999) == .resumed)
    }

    @Test func aCursorAheadOfTheJournalIsUnknown() {
        #expect(journal(events: 3).resume(after: 4) == .gap(Gap(from: 1, to: 3, reason: .unknownCursor)))
        #expect(EventJournal().resume(after: 9) == .gap(Gap(from: 1, to: 0, reason: .unknownCursor)))
        #expect(EventJournal().resume(after: 0) == .resumed)
    }
}
