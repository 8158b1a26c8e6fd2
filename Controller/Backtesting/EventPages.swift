import PlugProtocol
import PowerHistory

/// The journals' events of a span in the order of time, a day of them in memory.
struct EventPages: Sendable {
    private let history: PowerHistory
    private let to: Int64
    /// From where nothing was read yet.
    private var unread: Int64
    /// The next one stands last.
    private var page: [StoredEvent] = []

    /// Milliseconds.
    private static let length: Int64 = 86_400_000

    init(_ history: PowerHistory, over span: ClosedRange<Int64>) {
        self.history = history
        (unread, to) = (span.lowerBound, span.upperBound)
    }

    /// Looks at the next one.
    mutating func next() throws(HistoryError) -> StoredEvent? {
        while page.isEmpty, unread <= to {
            let end = min(to, unread + Self.length - 1)
            page = try history.events(of: nil, from: unread, to: end).reversed()
            unread = end + 1
        }
        return page.last
    }

    /// Takes it.
    mutating func remove() { page.removeLast() }
}
