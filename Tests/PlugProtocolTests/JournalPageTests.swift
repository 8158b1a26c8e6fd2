import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct JournalPageTests {
    private func journal(ring: Int = 4096) -> EventJournal {
        EventJournal(nextSequence: 10, limits: EventJournal.Limits(events: ring))
    }

    private func numbers(_ page: JournalPage) -> [String] {
        page.entries.map { entry in
            switch entry {
            case .event(let event): "\(event.sequence)"
            case .gap(let gap): "\(gap.from)-\(gap.to) \(gap.reason)"
            }
        }
    }

    @Test("A page lists gaps at their position among the events")
    func whatIsLostStandsWhereItWas() {
        var journal = journal()
        for _ in 0..<2 { journal.append(.buttonPressed(.single), time: .zero, boot: boot) }
        journal.leap(to: 100, reason: .storageFailed)
        for _ in 0..<2 { journal.append(.buttonPressed(.single), time: .zero, boot: boot) }
        let page = journal.page(after: 0, limit: 10)
        #expect(numbers(page) == ["1-9 powerLost", "10", "11", "12-99 storageFailed", "100", "101"])
        #expect(!page.hasMore)
        #expect(numbers(journal.page(after: 50, limit: 1)) == ["51-99 storageFailed"])
        #expect(journal.page(after: 50, limit: 1).hasMore)
    }

    @Test("Consecutive pages contain every event once")
    func pagesAddUpToTheWhole() {
        var journal = journal(ring: 50)
        for _ in 0..<80 { journal.append(.buttonPressed(.double), time: .zero, boot: boot) }
        var (cursor, found) = (SequenceNumber(20), [String]())
        while true {
            let page = journal.page(after: cursor, limit: 7)
            found += numbers(page)
            guard page.hasMore, let last = page.entries.last else { break }
            switch last {
            case .event(let event): cursor = event.sequence
            case .gap(let gap): cursor = gap.to
            }
        }
        #expect(found == ["21-39 overwritten"] + (40...89).map { "\($0)" })
    }

    @Test("A page after the newest event is empty", arguments: [SequenceNumber(9), 10, 4711, .max])
    func nothingComesAfterTheNewest(cursor: SequenceNumber) {
        #expect(journal().page(after: cursor, limit: 5) == JournalPage([], hasMore: false))
    }
}
