import PlugClient
import PlugModel
import ProtocolCore

/// Lets through what one of those who share a house has not had yet: the house is followed from where the one of them ended
/// that is further behind.
struct EventsSeen {
    /// The last event of each plug; bounded as the plugs are that are followed at a time.
    private var last: [PlugID: SequenceNumber]
    /// Where the others begin with plugs that are new to this one.
    private let others: [PlugID: SequenceNumber]
    /// Others hear all that a plug still knows which is new to them.
    private let othersAskForAll: Bool
    /// When this one began: what happened before at a plug that is new to it is none of its business.
    private let start: Instant
    private var ids: [String: PlugID] = [:]
    /// Plugs that are new to it, although the others know them.
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

    /// Where a house is to be followed from for rules, audiences and a history. Of a plug of which the history has no event it wants all that
    /// the plug still knows: nothing of it may have found room.
    ///
    /// - Parameters:
    ///   - others: the cursors of audiences.
    ///   - history: nil where none is kept.
    static func first(
        rules: [PlugID: SequenceNumber], others: [[PlugID: SequenceNumber]] = [], history: [PlugID: SequenceNumber]?
    ) -> [PlugID: SequenceNumber] {
        let all = others.reduce(rules) { $0.merging($1) { min($0, $1) } }
        guard let history else { return all }
        return history.merging(all.filter { history[$0.key] != nil }) { min($0, $1) }
    }

    /// What this one is to hear of the report: nothing, the report, or as much of it as is new.
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
                // It is where the others are, and need not hear of this again.
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
        // Nothing is missing of what was never asked for.
        if last[id] == nil && gap.reason != .unknownCursor || late.contains(id) {
            last[id] = gap.to
            var following = report
            following.update = .following(after: gap.to)
            return [following]
        }
        let known = last[id] ?? 0
        // Of a journal that does not know the cursor nothing before is known either.
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
