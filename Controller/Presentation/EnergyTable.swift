import Charting
import HouseCalendar
import PowerHistory
public import Terminal

extension EnergyReport {
    /// Returns tables for the user, with bars: first a table of the appliances' totals if there are several appliances,
    /// then a table of periods per appliance.
    ///
    /// - Parameters:
    ///   - width: the limit of display columns; nil for none.
    ///   - blocks: true if the terminal supports block characters; otherwise bars consist of `#`.
    /// - Returns: an empty list without data.
    public func lines(width: Int?, blocks: Bool) -> [StyledLine] {
        guard appliances.contains(where: { !$0.rows.isEmpty }) else { return [] }
        var lines: [StyledLine] = []
        if appliances.count > 1 {
            let sorted = appliances.sorted { $0.milliwattHours > $1.milliwattHours }
            lines += withBars(of: sorted.map(\.milliwattHours), table(of: sorted), width: width, blocks: blocks)
        }
        for appliance in appliances where !appliance.rows.isEmpty {
            if !lines.isEmpty { lines.append(StyledLine()) }
            lines.append(StyledLine(appliance.name, Style(bold: true)))
            let energies = appliance.rows.map(\.energy.milliwattHours)
            lines += withBars(of: energies, table(of: appliance), width: width, blocks: blocks)
        }
        return lines + notes
    }

    /// Appends a bar to the first rows of the table, one row per energy, in the space that the columns leave. The row
    /// of the sum is the last row and has no bar.
    private func withBars(of energies: [Double], _ table: Table, width: Int?, blocks: Bool) -> [StyledLine] {
        let taken = table.lines().map(\.width).max() ?? 0
        let bars = EnergyBars(width: width.map { min(40, max(8, $0 - taken - 2)) } ?? 24, blocks: blocks)
        let largest = energies.max() ?? 0
        var table = table
        // A truncated number or time would be wrong, so its column is either shown completely or omitted.
        for (index, column) in table.columns.enumerated()
        where column.alignment == .right || column.title == step.rawValue {
            let cells = table.rows.map { index < $0.count ? $0[index].width : 0 }
            table.columns[index].least = max(column.title.count, cells.max() ?? 0)
        }
        table.columns.append(Table.Column("", least: 8, importance: 1))
        for (index, energy) in energies.enumerated() { table.rows[index].append(bars.bar(energy, of: largest)) }
        return table.lines(width: width)
    }

    private var costColumns: [Table.Column] {
        guard tariff != nil else { return [] }
        return [Table.Column("cost", .right, least: 9, importance: 4)]
            + (knowsEmissions ? [Table.Column("CO2", .right, least: 7)] : [])
    }

    private var knowsEmissions: Bool { appliances.contains { $0.cost?.co2Grams != nil } }

    private func costCells(_ cost: Cost?) -> [StyledLine] {
        guard let tariff else { return [] }
        let amount = cost.map { "\(decimal($0.amount, 2)) \(tariff.currency)" } ?? "?"
        let grams = cost?.co2Grams.map { $0 < 10_000 ? "\(Int($0.rounded())) g" : "\(decimal($0 / 1000, 1)) kg" } ?? "?"
        return [StyledLine(amount)] + (knowsEmissions ? [StyledLine(grams)] : [])
    }

    private func table(of appliances: [Appliance]) -> Table {
        let all = appliances.reduce(0) { $0 + $1.milliwattHours }
        let energyText = energyFormat(appliances.map(\.milliwattHours))
        var table = Table(
            [
                Table.Column("appliance", least: 8, importance: 5),
                Table.Column("energy", .right, least: 9, importance: 4),
            ]
                + costColumns + [Table.Column("share", .right, least: 5, importance: 2)])
        for appliance in appliances {
            let share = all > 0 ? appliance.milliwattHours / all : 0
            let isKnown = !appliance.rows.isEmpty
            table.rows.append(
                [StyledLine(appliance.name), StyledLine(isKnown ? energyText(appliance.milliwattHours) : "?")]
                    + costCells(appliance.cost)
                    + [StyledLine(isKnown ? "\(decimal(share * 100, 1)) %" : "?")])
        }
        let sum = total(appliances.map(\.cost))
        table.rows.append([StyledLine("all"), StyledLine(energyText(all))] + costCells(sum))
        return table
    }

    private func table(of appliance: Appliance) -> Table {
        var table = Table(
            [
                Table.Column(step.rawValue, least: 10, importance: 5),
                Table.Column("energy", .right, least: 9, importance: 4),
            ]
                + costColumns
                + [
                    Table.Column("mean", .right, least: 6, importance: 2),
                    Table.Column("max", .right, least: 6, importance: 3),
                    Table.Column("known", .right, least: 5, importance: 1),
                ])
        let energyText = energyFormat(appliance.rows.map(\.energy.milliwattHours))
        let years = Set(appliance.rows.map(\.energy.period.start.year)).count
        for row in appliance.rows {
            let energy = row.energy
            let known = Double(energy.coveredMilliseconds) / 10 / Double(energy.period.to - energy.period.from)
            let isGuess = energy.estimatedMilliwattHours > energy.milliwattHours / 100
            table.rows.append(
                [
                    StyledLine(label(energy.period, ofYears: years)),
                    StyledLine((isGuess ? "~" : "") + energyText(energy.milliwattHours)),
                ] + costCells(row.cost) + [
                    StyledLine(energy.mean.map { ChartUnit.watts.text($0) } ?? "?"),
                    StyledLine(energy.greatest.map { ChartUnit.watts.text($0) } ?? "?"),
                    StyledLine(known > 99.5 ? "" : "\(Int(known)) %"),
                ])
        }
        if appliance.rows.count > 1 {
            table.rows.append(
                [StyledLine("sum"), StyledLine(energyText(appliance.milliwattHours))] + costCells(appliance.cost))
        }
        return table
    }

    private var notes: [StyledLine] {
        let rows = appliances.flatMap(\.rows)
        var notes: [StyledLine] = []
        if rows.contains(where: { $0.energy.estimatedMilliwattHours > $0.energy.milliwattHours / 100 }) {
            notes.append(StyledLine("~ includes energy that the plug counted without samples"))
        }
        if let standing = tariff?.standingCharge, standing > 0, step != .hour {
            notes.append(
                StyledLine("without the standing charge of \(decimal(standing, 2)) \(tariff?.currency ?? "") per day"))
        }
        return notes.isEmpty ? [] : [StyledLine()] + notes
    }

    /// Returns the label of a period. Labels of hours and quarter-hours contain the year only if the rows are from
    /// several years.
    ///
    /// - Parameter years: the number of different years in the rows.
    private func label(_ period: CalendarPeriod, ofYears years: Int) -> String {
        switch step {
        case .quarter, .hour: "\(years > 1 ? period.start.date : period.start.dayAndMonth) \(period.start.clock)"
        case .day: period.start.date
        case .month: "\(period.start.monthName) \(period.start.year)"
        }
    }

    /// Returns a function that formats the energies of a column in one unit, so that they can be compared.
    private func energyFormat(_ milliwattHours: [Double]) -> (Double) -> String {
        let largest = (milliwattHours.max() ?? 0) / 1000
        return { ChartUnit.wattHours.text($0 / 1000, scaledFor: largest) }
    }
}

/// Bars with a common scale.
private struct EnergyBars {
    let width: Int
    let blocks: Bool
    private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    func bar(_ value: Double, of largest: Double) -> StyledLine {
        guard largest > 0, value > 0 else { return StyledLine() }
        let length = min(1, value / largest) * Double(width)
        guard blocks else { return StyledLine(String(repeating: "#", count: max(1, Int(length.rounded())))) }
        let eighths = max(1, Int((length * 8).rounded()))
        let rest = eighths % 8 == 0 ? "" : String(Self.eighths[eighths % 8 - 1])
        return StyledLine(String(repeating: "█", count: eighths / 8) + rest)
    }
}

/// Formats a value with this number of decimals, at most 4.
func decimal(_ value: Double, _ digits: Int) -> String {
    let scale = [1, 10, 100, 1000, 10_000][digits]
    guard abs(value) < 1e12 else { return "\(value)" }
    let units = Int((abs(value) * Double(scale)).rounded())
    let fraction = String(units % scale)
    let sign = value < 0 && units > 0 ? "-" : ""
    let padded = String(repeating: "0", count: max(0, digits - fraction.count)) + fraction
    return sign + "\(units / scale)" + (digits == 0 ? "" : "." + padded)
}
