import Charting
public import LinuxSystem
public import PlugClient
public import PlugModel
public import Terminal

/// The live view of the house: a row per plug with its state, its power and its recent power series, and the latest
/// news below. The value has no input or output: it receives reports and returns lines.
public struct HouseTable: Sendable {
    /// The maximum number of readings per power series: three per column of the widest series.
    private static let courseLimit = 120
    /// The limit of news lines, more than fit on any screen.
    private static let newsLimit = 100

    private static let courseTitle = "Last minutes"
    private static let courseWidth = 40

    struct Row: Sendable {
        var isConnected = false
        /// True if the plug is present but not paired.
        var isStranger = false
        /// The last reported reason why the plug is not connected.
        var reason: Disconnection?
        var state: PlugState?
        /// The power in watts, newest last; nil while the plug was away.
        var course: [Double?] = []
    }

    private(set) var rows: [String: Row] = [:]
    /// The paired plugs, which have a row also while they are away.
    private var paired: [PlugID: String]
    private var news: [(time: String, words: String)] = []
    /// The energy in Wh since midnight, by name.
    private var today: [String: Double] = [:]
    /// The name of the selected row, to which the keys apply.
    public private(set) var selected: String?
    /// The text that the names of the shown plugs contain; empty for all plugs.
    private var filter = ""
    /// True while the user types the filter.
    private var isTyping = false
    /// True if the plugs are sorted by power, greatest first, instead of by name.
    private var isByPower = false
    private var showsDetails = false
    /// The hints below the table, set by the caller.
    public var notes: [String]

    /// Creates a table in which the paired plugs are away.
    public init(paired: [PlugID: String] = [:], notes: [String] = []) {
        (self.paired, self.notes) = (paired, notes)
        rows = Dictionary(paired.values.map { ($0, Row()) }) { first, _ in first }
        selected = names.first
    }

    /// The names of the shown plugs, in the order of the table.
    public var names: [String] {
        let shown = rows.keys.filter { filter.isEmpty || $0.foldedPlugName.contains(filter.foldedPlugName) }.sorted()
        guard isByPower else { return shown }
        func power(_ name: String) -> Double { rows[name]?.state?.reading?.activePower ?? -.infinity }
        return shown.sorted { (power($0), $1) > (power($1), $0) }
    }

    /// Returns the last known state of a plug; nil while it is not connected.
    public func state(of name: String) -> PlugState? { rows[name]?.state }

    /// Adds a row for a plug.
    public mutating func add(_ name: String) {
        if rows[name] == nil { rows[name] = Row() }
        selected = selected ?? name
    }

    /// Removes a plug's row, or shows the plug as away if it is paired.
    public mutating func remove(_ name: String) {
        rows[name] = paired.values.contains(name) ? Row() : nil
        guard rows[name] == nil else { return }
        if selected == name { selected = names.first }
    }

    /// Handles a key that changes only the view: it selects a plug, sorts, shows details, or is part of the filter.
    ///
    /// - Returns: false if the key has no such meaning.
    public mutating func handle(_ key: Key) -> Bool {
        switch (key, isTyping) {
        case (.enter, true): isTyping = false
        case (.escape, _): (filter, isTyping, showsDetails) = ("", false, false)
        case (.backspace, true): filter = String(filter.dropLast())
        case (.character(let character), true): filter.append(character)
        case (.character("/"), false): (filter, isTyping) = ("", true)
        case (.character("s"), false): isByPower.toggle()
        case (.enter, false): showsDetails.toggle()
        case (.up, _), (.character("k"), false): select(by: -1)
        case (.down, _), (.character("j"), false): select(by: 1)
        case _: return isTyping && key != .interrupt
        }
        if selected.map({ !names.contains($0) }) ?? true { selected = names.first }
        return true
    }

    /// Handles a click: selects the plug of a row, and shows or hides the details of the selected plug.
    ///
    /// - Parameters:
    ///   - row: the line of the screen, from 0.
    ///   - size: the size of the screen.
    public mutating func click(row: Int, size: TerminalSize) {
        let names = names
        let shown = shownRows(of: names.count, room: room(in: size))
        guard row > Self.above, row - Self.above - 1 < shown.count else { return }
        let name = names[shown.lowerBound + row - Self.above - 1]
        if selected == name { showsDetails.toggle() } else { selected = name }
    }

    /// Moves the selection up or down, with wraparound.
    public mutating func select(by step: Int) {
        let names = names
        guard !names.isEmpty, let current = selected.flatMap({ names.firstIndex(of: $0) }) else {
            return selected = names.first
        }
        selected = names[((current + step) % names.count + names.count) % names.count]
    }

    /// Handles a report of a plug. A plug without a row gets one.
    public mutating func handle(_ report: PlugReport) {
        var row = rows[report.plug] ?? Row()
        for record in WatchRecord.records(of: report, previous: row.state) where record.isNews {
            // A repeated failure with the same reason is not news.
            if case .disconnected(let reason, _) = report.update, reason == row.reason { continue }
            say("\(report.plug)  \(record.words.prefix { !$0.isNewline })", at: report.at)
        }
        switch report.update {
        case .connected(let description):
            (row.isConnected, row.isStranger, row.reason) = (true, false, nil)
            renamed(description.id, to: report.plug)
        case .disconnected(let reason, _):
            (row.isConnected, row.reason) = (false, reason)
            if case .distrusted = reason { row.isStranger = true } else { row.isStranger = false }
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

    /// Removes the row of a paired plug's former name.
    private mutating func renamed(_ plug: PlugID, to name: String) {
        guard let former = paired[plug], former != name else { return }
        paired[plug] = name
        remove(former)
    }

    /// Adds a line of news, such as a firing of a rule.
    public mutating func say(_ words: String, at time: WallTime) {
        news.append((String(clockTime(time)), words))
        news.removeFirst(max(0, news.count - Self.newsLimit))
    }

    /// Sets the energy of today.
    ///
    /// - Parameter wattHours: the energy since midnight by the plugs' names.
    public mutating func setToday(_ wattHours: [String: Double]) { today = wattHours }

    /// Returns the lines of the screen.
    ///
    /// - Returns: at most `size.rows` lines with at most `size.columns` columns.
    public func lines(size: TerminalSize, capabilities: Capabilities) -> [StyledLine] {
        let cells = HouseCells(capabilities: capabilities)
        let below = [StyledLine(), isTyping ? filterLine : keys(capabilities)]
        var lines = [title, StyledLine()]
        var table = table(cells, width: size.columns)
        addCourses(to: &table, cells, columns: size.columns)
        let all = table.lines(width: size.columns, ellipsis: cells.ellipsis)
        let shown = shownRows(of: all.count - 1, room: room(in: size))
        lines += all.prefix(1) + all.dropFirst(1 + shown.lowerBound).prefix(shown.count)
        if showsDetails { lines += [StyledLine()] + details }
        if rows.isEmpty { lines.append(StyledLine("no plugs yet; new ones appear automatically", .faint)) }
        if !notes.isEmpty { lines += [StyledLine()] + notes.map { StyledLine($0, .faint) } }
        let room = size.rows - lines.count - below.count
        if room > 1 {
            lines += [StyledLine()] + news.suffix(room - 1).map(newsLine)
            lines += Array(repeating: StyledLine(), count: size.rows - lines.count - below.count)
        }
        lines = lines.prefix(max(0, size.rows - below.count)) + below
        return lines.suffix(max(0, size.rows)).map { $0.truncated(to: size.columns, ellipsis: cells.ellipsis) }
    }

    /// The summary of the house, and the filter.
    private var title: StyledLine {
        var line = summary.line
        if !filter.isEmpty { line.append("   only \"\(safeText(filter))\"", .faint) }
        return line
    }

    private var filterLine: StyledLine {
        var line = StyledLine("/ \(safeText(filter))", .bold)
        line.append("   enter keep   esc all plugs", .faint)
        return line
    }

    /// The values of the selected plug, or why it is away.
    private var details: [StyledLine] {
        guard let name = selected, let row = rows[name] else { return [] }
        guard let state = row.state else {
            return [StyledLine("\(name): \(row.reason.map { "\($0)".prefix { !$0.isNewline } } ?? "not found yet")")]
        }
        var values = [state.relayOn ? "on" : "off"]
        if let level = state.level { values.append("level \(number(level.percent)) %") }
        if let reading = state.reading {
            values.append("\(number(reading.activePower)) W")
            values += [(reading.voltageRMS, "V"), (reading.currentRMS, "A")].compactMap { value, unit in
                value.map { "\(number($0)) \(unit)" }
            }
            values.append("\(HouseCells.energyText(reading.activeEnergy)) counted")
        }
        var lines = [StyledLine("\(name): \(values.joined(separator: ", "))")]
        if let tripped = state.tripped { lines.append(StyledLine("protection tripped: \(tripped.words)")) }
        return lines
    }

    private var summary: HouseSummary {
        HouseSummary(
            conditions: rows.values.map(\.condition), watts: rows.values.compactMap { $0.state?.reading?.activePower },
            wattHours: rows.keys.compactMap { today[$0] })
    }

    /// The number of lines above the titles of the table: the summary and an empty line.
    private static let above = 2
    /// The number of lines for the keys: an empty line and the keys.
    private static let below = 2

    /// The number of lines for the titles and the rows.
    private func room(in size: TerminalSize) -> Int {
        size.rows - Self.above - Self.below - (showsDetails ? 1 + details.count : 0)
    }

    /// Returns all rows if they and the titles fit, otherwise those around the selected one.
    private func shownRows(of count: Int, room: Int) -> Range<Int> {
        guard count + 1 > room, room > 1 else { return 0..<count }
        let shown = room - 1
        let current = selected.flatMap { names.firstIndex(of: $0) } ?? 0
        let first = min(max(0, current - shown / 2), count - shown)
        return first..<(first + shown)
    }

    private func newsLine(_ news: (time: String, words: String)) -> StyledLine {
        var line = StyledLine(news.time, .faint)
        line.append("  \(news.words)")
        return line
    }

    private func keys(_ capabilities: Capabilities) -> StyledLine {
        let arrows = capabilities.isUnicode ? "↑ ↓" : "arrows"
        var line = StyledLine()
        let all = [
            (arrows, "select"), ("space", "toggle"), ("+ -", "dim"), ("enter", "more"), ("/", "find"), ("s", "sort"),
            ("q", "quit"),
        ]
        for (key, what) in all {
            if !line.spans.isEmpty { line.append("   ") }
            line.append(key, .bold)
            line.append(" \(what)", .faint)
        }
        return line
    }

    private func table(_ cells: HouseCells, width: Int) -> Table {
        let hasLevels = rows.values.contains { $0.state?.level != nil }
        let hasToday = rows.keys.contains { today[$0] != nil }
        var columns = [Table.Column("", least: 1, importance: 6)]
        columns += cells.columns(for: rows.values.map(\.condition), width: width - 3)
        if hasLevels { columns.append(.init("Level", least: 12, importance: 1)) }
        columns.append(.init("Power", .right, least: 8, importance: 3))
        if hasToday { columns.append(.init("Today", .right, least: 8, importance: 2)) }
        var table = Table(columns)
        table.rows = names.map { name in
            let row = rows[name] ?? Row()
            let isSelected = name == selected
            var line = [
                StyledLine(isSelected ? ">" : " ", Style(.cyan, bold: true)),
                StyledLine(name, isSelected ? .bold : .plain), cells.state(row.condition),
            ]
            if hasLevels { line.append(cells.level(row.state?.level?.percent, isOn: row.state?.relayOn == true)) }
            line.append(cells.power(row.state?.reading?.activePower))
            if hasToday { line.append(cells.energy(today[name])) }
            return line
        }
        return table
    }

    /// Adds each plug's power series in the remaining space. The series are created with this width, because a later
    /// truncation would remove the newest values.
    private func addCourses(to table: inout Table, _ cells: HouseCells, columns: Int) {
        let room = columns - (table.lines().map(\.width).max() ?? 0) - 2
        guard room >= Self.courseTitle.count else { return }
        table.columns.append(.init(Self.courseTitle, importance: 0))
        for (index, name) in names.enumerated() {
            let course = sparkline(
                rows[name]?.course ?? [], width: min(Self.courseWidth, room), glyphs: cells.capabilities.glyphs)
            table.rows[index].append(StyledLine(course, Style(.cyan)))
        }
    }

    /// Returns the local time of day with seconds.
    private func clockTime(_ at: WallTime) -> Substring {
        at.iso8601(offset: at.localOffset).split(separator: "T").last?.prefix(8) ?? ""
    }
}

extension HouseTable.Row {
    fileprivate var condition: HouseCells.Condition {
        guard isConnected, let state else { return isStranger ? .stranger : .away }
        return state.tripped != nil ? .tripped : state.relayOn ? .on : .off
    }
}
