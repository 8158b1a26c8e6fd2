import Charting
import Terminal

/// Cells of tables of plugs. Colours are always accompanied by a mark and a word.
struct HouseCells {
    /// The states of a plug that colours and marks distinguish.
    enum Condition: Hashable {
        case on, off, tripped, away, stranger
    }

    /// The width of a level's bar in cells.
    private static let levelWidth = 6

    /// The usual width of a name in cells, and the minimum width on a narrow terminal.
    private static let usualName = 16
    private static let leastName = 4

    let capabilities: Capabilities

    var ellipsis: Character { capabilities.isUnicode ? "…" : "~" }

    /// Returns the columns of names and states. On a narrow terminal names are truncated further, so that the state has
    /// room.
    ///
    /// - Parameter width: the width of both columns together; nil for no limit.
    func columns(for conditions: [Condition], width: Int?) -> [Table.Column] {
        let state = conditions.map { self.state($0).width }.max() ?? 0
        let room = width.map { $0 - 2 - state } ?? Self.usualName
        let isNarrow = (Self.leastName..<Self.usualName).contains(room)
        return [
            Table.Column("Plug", least: isNarrow ? room : Self.usualName, importance: isNarrow ? 4 : 5),
            Table.Column("State", least: 12, importance: isNarrow ? 5 : 4),
        ]
    }

    func state(_ condition: Condition) -> StyledLine {
        switch condition {
        case .on: StyledLine("\(mark("●", "*")) on", Style(.green, bold: true))
        case .off: StyledLine("\(mark("○", "o")) off")
        case .tripped: StyledLine("! tripped", Style(.red, bold: true))
        case .away: StyledLine("\(mark("·", ".")) away", .faint)
        case .stranger: StyledLine("? not paired", Style(.yellow))
        }
    }

    /// Returns a bar and the level in percent; empty for a plug without a dimmer. While the plug is off, the text is
    /// faint and shows the level that the plug will have when it is turned on.
    func level(_ percent: Double?, isOn: Bool) -> StyledLine {
        guard let percent else { return StyledLine() }
        let filled = Int((percent / 100 * Double(Self.levelWidth)).rounded())
        let number = "\(Int(percent.rounded()))"
        var line = StyledLine(
            String(repeating: mark("█", "#"), count: filled), isOn ? Style(.yellow) : .faint)
        line.append(String(repeating: mark("░", "."), count: Self.levelWidth - filled), .faint)
        line.append(String(repeating: " ", count: 4 - number.count) + "\(number) %", isOn ? .plain : .faint)
        return line
    }

    func power(_ watts: Double?) -> StyledLine {
        guard let watts else { return StyledLine("-", .faint) }
        return StyledLine(ChartUnit.watts.text(watts))
    }

    func energy(_ wattHours: Double?) -> StyledLine {
        wattHours.map { StyledLine(Self.energyText($0), .faint) } ?? StyledLine()
    }

    /// Formats the energy of a house or an appliance: in Wh below 1000 Wh, otherwise in kWh.
    static func energyText(_ wattHours: Double) -> String {
        wattHours < 1000 ? "\(Int(wattHours.rounded())) Wh" : "\(rounded(wattHours / 1000)) kWh"
    }

    private static func rounded(_ value: Double) -> String {
        let hundredths = Int((min(value, 1e12) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    private func mark(_ mark: String, _ plain: String) -> String { capabilities.isUnicode ? mark : plain }
}

/// A summary of all plugs in one line: `6 plugs, 4 on, 1 tripped   412.3 W   3.21 kWh today`.
struct HouseSummary {
    var conditions: [HouseCells.Condition] = []
    var watts: [Double] = []
    var wattHours: [Double] = []

    var line: StyledLine {
        let count = conditions.count
        var line = StyledLine("\(count) plug\(count == 1 ? "" : "s")", .bold)
        add(.on, "on", &line)
        add(.tripped, "tripped", &line)
        add(.away, "away", &line)
        add(.stranger, "not paired", &line)
        if !watts.isEmpty { line.append("   \(ChartUnit.watts.text(watts.reduce(0, +)))", .bold) }
        if !wattHours.isEmpty {
            line.append("   \(HouseCells.energyText(wattHours.reduce(0, +))) today", .faint)
        }
        return line
    }

    private func add(_ condition: HouseCells.Condition, _ word: String, _ line: inout StyledLine) {
        let count = conditions.count { $0 == condition }
        if count > 0 { line.append(", \(count) \(word)", condition == .tripped ? Style(.red, bold: true) : .plain) }
    }
}
