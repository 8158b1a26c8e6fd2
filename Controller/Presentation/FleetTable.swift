import Charting
public import Fleet
import LinuxSystem
public import Terminal

/// Many houses, their plugs and their energy as tables.
public enum FleetTable {
    /// Returns a table of houses.
    ///
    /// - Parameter width: the limit of display columns; nil for none.
    public static func lines(_ houses: [FleetHouse], width: Int?) -> [StyledLine] {
        var table = Table([
            Table.Column("house", least: 8, importance: 9), Table.Column("plugs", .right, importance: 7),
            Table.Column("away", .right, importance: 6), Table.Column("tripped", .right, least: 7, importance: 6),
            Table.Column("power", .right, least: 8, importance: 5),
            Table.Column("this month", .right, least: 10, importance: 4), Table.Column("labels", least: 8),
            Table.Column("your role", importance: 1),
        ])
        for house in houses {
            table.rows.append([
                text(house.house), StyledLine("\(house.plugs)"), count(house.away), count(house.tripped),
                text(house.activePower, .watts), text(house.energyThisMonth, .wattHours), labels(house.labels),
                StyledLine(house.role),
            ])
        }
        return table.lines(width: width)
    }

    /// Returns a table of plugs.
    ///
    /// - Parameter width: the limit of display columns; nil for none.
    public static func lines(_ plugs: [FleetPlug], width: Int?) -> [StyledLine] {
        var table = Table([
            Table.Column("house", least: 8, importance: 8), Table.Column("plug", least: 8, importance: 9),
            Table.Column("state", least: 7, importance: 7), Table.Column("power", .right, least: 8, importance: 5),
            Table.Column("last seen", least: 13, importance: 3), Table.Column("id", least: 12, importance: 2),
            Table.Column("labels", least: 8),
        ])
        for plug in plugs {
            table.rows.append([
                text(plug.house), text(plug.plug), state(plug), text(plug.connected ? plug.activePower : nil, .watts),
                StyledLine(plug.lastSeen.map(time) ?? "never"), StyledLine(plug.id), labels(plug.labels),
            ])
        }
        return table.lines(width: width)
    }

    /// Returns a table of energy per month and house, or per plug if the rows have plugs.
    ///
    /// - Parameter width: the limit of display columns; nil for none.
    public static func lines(_ energy: [FleetEnergy], width: Int?) -> [StyledLine] {
        let isByPlug = energy.contains { $0.plug != nil }
        var table = Table(
            [Table.Column("month", least: 7, importance: 9), Table.Column("house", least: 8, importance: 8)]
                + (isByPlug ? [Table.Column("plug", least: 8, importance: 7)] : [])
                + [
                    Table.Column("energy", .right, least: 9, importance: 6),
                    Table.Column("estimated", .right, least: 9, importance: 1),
                ])
        for row in energy {
            table.rows.append(
                [StyledLine(row.month), text(row.house)] + (isByPlug ? [text(row.plug ?? "")] : []) + [
                    text(row.activeEnergy, .wattHours), text(row.estimated > 0 ? row.estimated : nil, .wattHours),
                ])
        }
        return table.lines(width: width)
    }

    private static func state(_ plug: FleetPlug) -> StyledLine {
        if let tripped = plug.tripped { return StyledLine("tripped: \(safeText(tripped))", Style(bold: true)) }
        guard plug.connected else { return StyledLine("away") }
        guard let on = plug.on else { return StyledLine("?") }
        return StyledLine(on ? plug.level.map { "on, \(Int(max(0, min($0, 100)).rounded())) %" } ?? "on" : "off")
    }

    private static func text(_ untrusted: String) -> StyledLine { StyledLine(safeText(untrusted)) }
    private static func count(_ number: Int) -> StyledLine { StyledLine(number == 0 ? "" : "\(number)") }
    private static func text(_ value: Double?, _ unit: ChartUnit) -> StyledLine {
        StyledLine(value.map { unit.text($0) } ?? "")
    }

    private static func labels(_ labels: [String: String]) -> StyledLine {
        text(labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
    }

    /// Returns the time on the local wall clock.
    private static func time(_ written: String) -> String {
        guard let time = WallTime(iso8601: written) else { return safeText(written) }
        return String(time.iso8601(offset: time.localOffset).prefix(16)).replacing("T", with: " ")
    }
}
