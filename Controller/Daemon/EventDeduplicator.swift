import PlugClient
import PlugModel
import ProtocolCore

/// Filters the reports for one of several observers of a house, so that it receives each event once. The house is
/// followed from the oldest position of all observers, so each observer would otherwise receive events again.
struct EventDeduplicator {
    /// The last event of each plug that this observer has received. Limited by the number of followed plugs.
    private var last: [PlugID: SequenceNumber]
    /// The positions of the other observers for plugs that are new to this observer.
    private let others: [PlugID: SequenceNumber]
    /// True if another observer requests all events that a plug has stored.
    private let othersAskForAll: Bool
    /// The time at which this observer began. Events before it are skipped for plugs that are new to this observer.
    private let start: Instant
    private var ids: [String: PlugID] = [:]
    /// The plugs that are new to this observer but not to the others. A plug is removed at its first event after
    /// `start`.
    private var late: Set<PlugID> = []

    init(
        _ cursors: [PlugID: SequenceNumber], others: [PlugID: SequenceNumber] = [:], othersAskForAll: Bool = false,
        start: Instant
    ) {
        self.othersAskForAll = othersAskForAll
        last = cursors
        self.others = others.filter { cursors[$0.key] == nil }
        self.start = start
    }

    /// Returns the positions from which a house is followed for rules, observers and a history. If there is a history,
    /// a plug without events in the history is omitted, so that all events that the plug has stored are fetched.
    ///
    /// - Parameters:
    ///   - rules: The positions of the rules.
    ///   - others: The positions of the observers.
    ///   - history: The positions of the history; nil without a history.
    static func first(
        rules: [PlugID: SequenceNumber], others: [[PlugID: SequenceNumber]] = [], history: [PlugID: SequenceNumber]?
    ) -> [PlugID: SequenceNumber] {
        let all = others.reduce(rules) { $0.merging($1) { min($0, $1) } }
        guard let history else { return all }
        return history.merging(all.filter { history[$0.key] != nil }) { min($0, $1) }
    }

    /// Returns the part of a report that is new to this observer.
    mutating func pass(_ report: PlugReport, now: Instant) -> [PlugReport] {
        switch report.update {
        case .connected(let description): return met(description.id, report)
        case .following(let sequence):
            if let id = ids[report.plug] { last[id] = sequence }
            return [report]
        case .event(let event, let age):
            guard let id = ids[report.plug] else { return [report] }
            guard event.sequence > last[id] ?? 0 else { return [] }
            last[id] = event.sequence
            guard late.contains(id) else { return [report] }
            guard age.map({ now - $0 >= start }) == true else {
                // The event is from before the start. The observer receives its position, but not the event.
                var following = report
                following.update = .following(after: event.sequence)
                return [following]
            }
            late.remove(id)
            return [report]
        case .gap(let gap): return pass(gap, report)
        case .disconnected:
            ids[report.plug] = nil
            return [report]
        case .snapshot, .state, .log: return [report]
        }
    }

    private mutating func met(_ id: PlugID, _ report: PlugReport) -> [PlugReport] {
        ids[report.plug] = id
        guard last[id] == nil, let begin = others[id] ?? (othersAskForAll ? 0 : nil) else { return [report] }
        last[id] = begin
        late.insert(id)
        var following = report
        following.update = .following(after: begin)
        return [report, following]
    }

    private mutating func pass(_ gap: Gap, _ report: PlugReport) -> [PlugReport] {
        guard let id = ids[report.plug] else { return [report] }
        // The observer did not request the missing events.
        if last[id] == nil && gap.reason != .unknownCursor || late.contains(id) {
            last[id] = gap.to
            var following = report
            following.update = .following(after: gap.to)
            return [following]
        }
        let known = last[id] ?? 0
        // With `unknownCursor` the plug's journal has a new numbering, so the end of the gap replaces the observer's
        // position.
        guard gap.reason != .unknownCursor else {
            last[id] = gap.to
            return [report]
        }
        guard gap.to > known else { return [] }
        last[id] = gap.to
        var rest = report
        rest.update = .gap(Gap(from: max(gap.from, known + 1), to: gap.to, reason: gap.reason))
        return [rest]
    }
}
