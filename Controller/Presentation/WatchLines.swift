public import PlugClient
import PlugModel

/// Makes lines of what is heard of the plugs, and each line's cursor.
///
/// A plug whose number the cursor has goes on after it. One that it has not is asked for all that it still has, and what happened
/// before the first watch began is left out here, and with it what nobody knows the time of, as the plug has restarted since: so nothing is
/// of which it is certain that it happened since, be the plug new, or reached only now.
public struct WatchLines: Sendable {
    public private(set) var cursor: WatchCursor
    private let tellsCursor: Bool
    /// Of the plugs that are connected, by the names under which they are told of.
    private var states: [String: PlugState] = [:]
    private var ids: [String: PlugID] = [:]
    /// Of plugs without a number: whether a gap is news only the event after it tells. Bounded as the cursor is.
    private var gaps: [PlugID: PlugReport] = [:]

    /// - Parameters:
    ///   - cursor: what was told before.
    ///   - tellsCursor: whether the lines carry it.
    public init(after cursor: WatchCursor, tellsCursor: Bool) {
        self.cursor = cursor
        self.tellsCursor = tellsCursor
    }

    /// The lines for one report, each with the cursor that stands for everything up to and including it. Readings and levels have
    /// none: they move no number, and come most often.
    public mutating func records(of report: PlugReport) -> [WatchRecord] {
        switch report.update {
        case .connected(let plug): ids[report.plug] = plug.id
        case .following(let sequence): account(sequence, of: report)
        case .snapshot(let state): states[report.plug] = state
        case .state(let state):
            defer { states[report.plug] = state }
            return WatchRecord.records(of: report, previous: states[report.plug])
        case .event(let event, let age):
            if isUnknown(report.plug) {
                let gap = ids[report.plug].flatMap { gaps.removeValue(forKey: $0) }
                if age == nil || report.at < cursor.start { return [] }
                if let gap { return told(gap) + told(report, event.sequence) }
            }
            return told(report, event.sequence)
        case .gap(let gap):
            guard isUnknown(report.plug), let id = ids[report.plug], gaps.count < WatchCursor.limit else {
                return told(report, gap.to)
            }
            gaps[id] = report
            return []
        case .log: break
        case .disconnected:
            states[report.plug] = nil
            ids[report.plug] = nil
        }
        return lines(report)
    }

    private func isUnknown(_ name: String) -> Bool { ids[name].map { !cursor.contains($0) } ?? false }

    private mutating func told(_ gap: PlugReport) -> [WatchRecord] {
        guard case .gap(let lost) = gap.update else { return [] }
        return told(gap, lost.to)
    }

    private mutating func told(_ report: PlugReport, _ sequence: SequenceNumber) -> [WatchRecord] {
        account(sequence, of: report)
        return lines(report)
    }

    private mutating func account(_ sequence: SequenceNumber, of report: PlugReport) {
        if let id = ids[report.plug] { cursor.set(sequence, of: id) }
    }

    private func lines(_ report: PlugReport) -> [WatchRecord] {
        var records = WatchRecord.records(of: report, previous: states[report.plug])
        if tellsCursor {
            for index in records.indices { records[index].cursor = cursor.text }
        }
        return records
    }
}
