public import Terminal

/// The output of `plugctl` without arguments: a row per plug, and hints for further commands.
public struct HouseGlance: Sendable {
    private let plugs: [PlugRecord]
    private let wattHours: [String: Double]
    private let dashboard: String?

    /// Creates the output.
    ///
    /// - Parameters:
    ///   - plugs: the plugs in the order of the rows.
    ///   - wattHours: today's energy by the plugs' names.
    ///   - dashboard: the address of the daemon's page; nil without one.
    public init(_ plugs: [PlugRecord], wattHours: [String: Double] = [:], dashboard: String? = nil) {
        self.plugs = plugs
        self.wattHours = wattHours
        self.dashboard = dashboard
    }

    /// Returns the lines.
    ///
    /// - Parameters:
    ///   - width: the limit of display columns; nil for no limit.
    ///   - capabilities: the colours and characters of the terminal.
    public func lines(width: Int?, capabilities: Capabilities) -> [StyledLine] {
        let cells = HouseCells(capabilities: capabilities)
        var lines = [summary.line, StyledLine()]
        lines += table(cells, width: width).lines(width: width, ellipsis: cells.ellipsis)
        lines += [StyledLine()] + notes.map { StyledLine($0, .faint) }
        return width.map { width in lines.map { $0.truncated(to: width, ellipsis: cells.ellipsis) } } ?? lines
    }

    private var summary: HouseSummary {
        HouseSummary(
            conditions: plugs.map(\.condition), watts: plugs.compactMap { $0.reading?.activePower },
            wattHours: plugs.compactMap { wattHours[$0.plug] })
    }

    private func table(_ cells: HouseCells, width: Int?) -> Table {
        let hasLevels = plugs.contains { $0.level != nil }
        let hasEnergies = plugs.contains { wattHours[$0.plug] != nil }
        let hasHints = plugs.contains { hint(for: $0) != nil }
        var columns = cells.columns(for: plugs.map(\.condition), width: width)
        if hasLevels { columns.append(.init("Level", least: 12, importance: 1)) }
        columns.append(.init("Power", .right, least: 8, importance: 3))
        if hasEnergies { columns.append(.init("Today", .right, least: 8, importance: 2)) }
        if hasHints { columns.append(.init("", least: 16, importance: 0)) }
        var table = Table(columns)
        table.rows = plugs.map { plug in
            var row = [StyledLine(plug.plug, .bold), cells.state(plug.condition)]
            if hasLevels { row.append(cells.level(plug.level, isOn: plug.on == true)) }
            row.append(cells.power(plug.reading?.activePower))
            if hasEnergies { row.append(cells.energy(wattHours[plug.plug])) }
            if hasHints { row.append(StyledLine(hint(for: plug) ?? "", .faint)) }
            return row
        }
        return table
    }

    /// Returns the command that helps with an unpaired or tripped plug, the reason why a plug is away, or nil for any
    /// other plug.
    private func hint(for plug: PlugRecord) -> String? {
        switch plug.condition {
        case .stranger: "plugctl pair \"\(plug.plug)\""
        case .tripped: "plugctl reset \"\(plug.plug)\" --protection"
        // The first line is the reason, the others are hints; `plugctl doctor` shows both.
        case .away: plug.reason.map { String($0.prefix { !$0.isNewline }) }
        case .on, .off: nil
        }
    }

    private var notes: [String] {
        var notes = ["plugctl watch shows a live view, plugctl help lists all commands"]
        if plugs.contains(where: { $0.condition == .away }) { notes.append("plugctl doctor shows why a plug is away") }
        if let dashboard { notes.append("in a browser: \(dashboard)") }
        return notes
    }
}

extension PlugRecord {
    var condition: HouseCells.Condition {
        switch state {
        case "connected": tripped != nil ? .tripped : on == true ? .on : .off
        case "stranger": .stranger
        default: .away
        }
    }
}
