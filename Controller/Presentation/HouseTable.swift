import Charting
import LinuxNetwork
public import PlugClient
public import PlugProtocol
public import Terminal

/// The house at a glance: a row for each plug with its state, its power and the power's course, and the latest news below.
/// A value: reports go in, lines come out.
public struct HouseTable: Sendable {
    /// Readings kept for the course of a plug's power: as many as the widest terminal shows.
    private static let courseLimit = 120
    /// Lines of news kept: more than fit on any screen.
    private static let newsLimit = 100

    struct Row: Sendable {
        var isConnected = false
        var state: PlugState?
        /// Watts, the newest last; nil where the plug was away.
        var course: [Double?] = []
    }

    private(set) var rows: [String: Row] = [:]
    private var news: [String] = []
    /// The row that keys act on.
    public private(set) var selected: String?
    /// Shown below the table, for hints of whoever runs it.
    public var notes: [String]

    public init(notes: [String] = []) { self.notes = notes }

    /// The names in the order of the table.
    public var names: [String] { rows.keys.sorted() }

    public func state(of name: String) -> PlugState? { rows[name]?.state }

    /// A plug was found; it has a row from now on.
    public mutating func add(_ name: String) {
        if rows[name] == nil { rows[name] = Row() }
        selected = selected ?? name
    }

    /// A plug is gone and its row with it.
    public mutating func remove(_ name: String) {
        rows[name] = nil
        if selected == name { selected = names.first }
    }

    /// Moves the selection up or down, round at the ends.
    public mutating func select(by step: Int) {
        let names = names
        guard let current = selected.flatMap({ names.firstIndex(of: $0) }) else { return selected = names.first }
        selected = names[((current + step) % names.count + names.count) % names.count]
    }

    public mutating func take(_ report: PlugReport) {
        var row = rows[report.plug] ?? Row()
        for record in WatchRecord.records(of: report, previous: row.state) where record.isNews {
            say("\(clockTime(report.at))  \(report.plug)  \(record.words)")
        }
        switch report.update {
        case .connected: row.isConnected = true
        case .disconnected:
            row.isConnected = false
            row.state = nil
            row.course.append(nil)
        case .snapshot(let state), .state(let state):
            if let reading = state.reading, reading != row.state?.reading { row.course.append(reading.activePower) }
            row.state = state
        case .event(let event, _):
            if case .relayChanged(let on, _) = event.kind { row.state?.relayOn = on }
        case .following, .gap, .log: break
        }
        row.course.removeFirst(max(0, row.course.count - Self.courseLimit))
        rows[report.plug] = row
    }

    /// Adds a line of news, such as a rule that fired.
    public mutating func say(_ line: String) {
        news.append(line)
        news.removeFirst(max(0, news.count - Self.newsLimit))
    }

    /// - Returns: at most `size.rows` lines.
    public func lines(size: TerminalSize, capabilities: Capabilities) -> [StyledLine] {
        var lines = table(capabilities).lines(width: size.columns)
        if rows.isEmpty { lines.append(StyledLine("no plugs yet; they appear here by themselves", .faint)) }
        lines.append(StyledLine())
        lines += notes.map { StyledLine($0, .faint) }
        lines.append(StyledLine())
        let room = max(0, size.rows - lines.count)
        lines += news.suffix(room).map { StyledLine($0) }
        return Array(lines.prefix(size.rows))
    }

    private func table(_ capabilities: Capabilities) -> Table {
        var table = Table([
            .init("", least: 1, importance: 5), .init("Plug", least: 8, importance: 4), .init("State", importance: 3),
            .init("Power", .right, least: 8, importance: 2), .init("Last minutes", least: 8, importance: 1),
        ])
        table.rows = names.map { name in
            let row = rows[name] ?? Row()
            let isSelected = name == selected
            return [
                StyledLine(isSelected ? ">" : " "),
                StyledLine(name, isSelected ? .bold : .plain),
                stateCell(row),
                StyledLine(row.state?.reading.map { ChartUnit.watts.text($0.activePower) } ?? "-"),
                StyledLine(sparkline(row.course, width: 40, glyphs: capabilities.glyphs)),
            ]
        }
        return table
    }

    private func stateCell(_ row: Row) -> StyledLine {
        guard row.isConnected, let state = row.state else { return StyledLine("away", .faint) }
        if state.tripped != nil { return StyledLine("tripped", .bold) }
        guard state.relayOn else { return StyledLine("off") }
        guard let level = state.level, level < .full else { return StyledLine("on", .bold) }
        return StyledLine("on \(Int(level.percent.rounded())) %", .bold)
    }

    /// The local time of day, to the second.
    private func clockTime(_ at: WallTime) -> Substring {
        at.iso8601(offset: at.localOffset).split(separator: "T").last?.prefix(8) ?? ""
    }
}
