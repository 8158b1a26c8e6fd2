public import PlugModel

/// A stretch of a plug's journal, in order, with what is lost of it.
public struct JournalPage: Hashable, Sendable {
    public enum Entry: Hashable, Sendable {
        case event(PlugEvent)
        /// Nobody can tell these any more.
        case gap(Gap)
    }

    public var entries: [Entry]
    /// Something comes after them.
    public var hasMore: Bool

    public init(_ entries: [Entry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }
}

extension EventJournal {
    /// What comes after `cursor`, at most `limit` entries. Nothing for a cursor that is ahead of the journal.
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
                preconditionFailure("what is not lost is here")
            }
        }
        return JournalPage(entries, hasMore: cursor < nextSequence - 1)
    }
}
