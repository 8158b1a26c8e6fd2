import PlugModel
import PowerHistory

/// Reads the journals' events of a span in ascending order of time, one day at a time.
struct EventPages: Sendable {
    private let history: PowerHistory
    private let rules: [String]
    private let to: Int64
    /// The start of the time that has not been read yet.
    private var unread: Int64
    /// The events of one day that are not removed yet, in reverse order: the next event is the last element.
    private var page: [StoredEvent] = []
    /// The ids of the commands that the rules really sent around the time of the page. Empty if no event of the page
    /// has a command.
    private var commands: Set<String> = []

    /// The length of a page in milliseconds: one day.
    private static let length: Int64 = 86_400_000

    /// - Parameter rules: The names of the rules.
    init(_ history: PowerHistory, of rules: [String], over span: ClosedRange<Int64>) {
        (self.history, self.rules) = (history, rules)
        (unread, to) = (span.lowerBound, span.upperBound)
    }

    /// Returns the next event without removing it; nil at the end of the span.
    mutating func next() throws(HistoryError) -> StoredEvent? {
        while page.isEmpty, unread <= to {
            let end = min(to, unread + Self.length - 1)
            page = try history.events(of: nil, from: unread, to: end).reversed()
            commands = []
            if page.contains(where: { $0.command != nil }) {
                // The search starts a day before the page, because a command may have waited for its plug, and ends a
                // minute after the page, because the clocks of plug and controller may differ. A command that waited
                // longer than a day is not found.
                for rule in rules {
                    commands.formUnion(
                        try history.commandIDs(of: rule, from: unread - Self.length, to: end + 60_000))
                }
            }
            unread = end + 1
        }
        return page.last
    }

    /// Returns true if a command of one of the rules caused the event in reality.
    func isOfRule(_ event: StoredEvent) -> Bool { event.command.map { commands.contains($0.hexadecimal) } ?? false }

    /// Removes the next event.
    mutating func remove() { page.removeLast() }
}

extension StoredEvent {
    /// The command that switched the relay; nil for any other event and for a switching without a command.
    fileprivate var command: RequestID? {
        guard case .event(let event) = content, case .relayChanged(_, .controller(_, let request, _)) = event.kind
        else {
            return nil
        }
        return request
    }
}
