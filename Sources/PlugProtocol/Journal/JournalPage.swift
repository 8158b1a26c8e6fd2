public import PlugModel

/// A page of a plug's journal, in order, with the gaps between its events.
public struct JournalPage: Hashable, Sendable {
    /// An event or a gap.
    public enum Entry: Hashable, Sendable {
        /// An event.
        case event(PlugEvent)
        /// Events that can no longer be read.
        case gap(Gap)
    }

    /// The entries, oldest first.
    public var entries: [Entry]
    /// True if the journal has later entries.
    public var hasMore: Bool

    /// Creates a page from entries that are sorted oldest first.
    public init(_ entries: [Entry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }
}

extension EventJournal {
    /// Returns at most `limit` entries after `cursor`. Empty if the cursor is ahead of the journal.
    public func page(after cursor: SequenceNumber, limit: Int) -> JournalPage {
        var entries: [JournalPage.Entry] = []
        var cursor = cursor
        while entries.count < limit, cursor < nextSequence - 1 {
            if case .gap(let gap) = resume(after: cursor) {
                entries.append(.gap(gap))
                cursor = gap.to
            } else if let event = self[cursor + 1] {
                entries.append(.event(event))
                cursor = event.sequence
            } else {
                preconditionFailure("an event that is not lost is in the journal")
            }
        }
        return JournalPage(entries, hasMore: cursor < nextSequence - 1)
    }
}
