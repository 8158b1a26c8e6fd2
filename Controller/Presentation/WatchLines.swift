public import PlugClient
import PlugModel

/// Converts reports of plugs to lines, and determines each line's cursor.
///
/// For a plug in the cursor, the lines continue after the plug's last processed event. Every other plug sends all its
/// stored events, but two kinds of events are omitted: events before the first watch, and events whose time is unknown
/// because the plug has restarted since. So every event that certainly occurred since the first watch is included,
/// whether the plug is new or was unreachable.
public struct WatchLines: Sendable {
    /// The position after all returned lines.
    public private(set) var cursor: WatchCursor
    private let tellsCursor: Bool
    /// The states of connected plugs by their reported names.
    private var states: [String: PlugState] = [:]
    private var ids: [String: PlugID] = [:]
    /// The gaps of plugs that are not in the cursor. The next event decides if such a gap is reported. The limit of the
    /// cursor bounds the table.
    private var gaps: [PlugID: PlugReport] = [:]

    /// Creates a converter that continues after a cursor.
    ///
    /// - Parameters:
    ///   - cursor: the position of the previous watch.
    ///   - tellsCursor: true if the lines contain the cursor.
    public init(after cursor: WatchCursor, tellsCursor: Bool) {
        self.cursor = cursor
        self.tellsCursor = tellsCursor
    }

    /// Returns the lines for one report, each with the cursor up to and including this line. Lines of readings and
    /// levels have no cursor, because they have no event number and are the most frequent.
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
