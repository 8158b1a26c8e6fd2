import Automation
import PlugModel
import PowerHistory

/// The journals' events of a span in the order of time, a day of them in memory.
struct EventPages: Sendable {
    private let history: PowerHistory
    private let rules: [String]
    private let to: Int64
    /// From where nothing was read yet.
    private var unread: Int64
    /// The next one stands last.
    private var page: [StoredEvent] = []
    /// What the rules themselves commanded then.
    private var commands: Set<String> = []

    /// Milliseconds.
    private static let length: Int64 = 86_400_000

    /// - Parameter rules: their names.
    init(_ history: PowerHistory, of rules: [String], over span: ClosedRange<Int64>) {
        (self.history, self.rules) = (history, rules)
        (unread, to) = (span.lowerBound, span.upperBound)
    }

    /// Looks at the next one.
    mutating func next() throws(HistoryError) -> StoredEvent? {
        while page.isEmpty, unread <= to {
            let end = min(to, unread + Self.length - 1)
            page = try history.events(of: nil, from: unread, to: end).reversed()
            commands = []
            if page.contains(where: { $0.command != nil }) {
                // A command may wait for a day, and clocks differ a little.
                for rule in rules {
                    commands.formUnion(
                        try history.commandIDs(of: rule, from: unread - Self.length, to: end + 60_000))
                }
            }
            unread = end + 1
        }
        return page.last
    }

    /// One that came of what one of the rules really commanded then.
    func isOfRule(_ event: StoredEvent) -> Bool { event.command.map { commands.contains($0.hexadecimal) } ?? false }

    /// Takes it.
    mutating func remove() { page.removeLast() }
}

extension StoredEvent {
    /// The command by which a relay was switched.
    fileprivate var command: RequestID? {
        guard case .event(let event) = content, case .relayChanged(_, .controller(_, let request, _)) = event.kind
        else {
            return nil
        }
        return request
    }
}
