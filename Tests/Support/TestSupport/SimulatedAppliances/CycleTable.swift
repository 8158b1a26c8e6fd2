/// A table in Markdown: the results of the detector and of naive rules for each appliance.
public struct CycleTable {
    private var lines: [String]

    /// Creates a table whose first column has this title.
    public init(_ title: String) {
        let header = [
            title, "samples", "true cycles", "found", "false", "delay of the first five, median",
            "later, median (longest)", "*probably*: false", "... later, median", "first report after",
            "below 5 W for 60 s: false", "for 300 s: false",
        ]
        lines = [Self.line(header), Self.line(["---"] + header.dropFirst().map { _ in "---:" })]
    }

    /// Adds the row of one appliance.
    public mutating func add(_ row: CycleMeasurement) {
        let sense = row.sense
        let longest = sense.laterDelays.last.map { " (\(Self.seconds($0)))" } ?? ""
        let before = sense.cyclesBeforeReport.map { "\($0) cycle\($0 == 1 ? "" : "s")" } ?? "-"
        lines.append(
            Self.line(
                [
                    row.name, "\(row.samples)", "\(sense.trueCycles)", "\(sense.found)", "\(sense.wrong)",
                    Self.median(sense.firstDelays), Self.median(sense.laterDelays) + longest, "\(row.probable.wrong)",
                    Self.median(row.probable.laterDelays), before,
                ] + row.naive.map { "\($0.wrong)" }))
    }

    /// The table as Markdown.
    public var text: String { lines.joined(separator: "\n") + "\n" }

    private static func median(_ delays: [Double]) -> String { Score.median(delays).map(seconds) ?? "-" }

    private static func seconds(_ value: Double) -> String { "\(Int(value.rounded())) s" }

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

extension CycleTable {
    /// The machines of each model in the table. The detector was not developed with them.
    private static let seeds: ClosedRange<UInt64> = 1_001...1_004

    /// Returns the results for all simulated appliances, on plugs that start without a learned profile. They are the
    /// same in each run, except the processing times.
    public static func models() -> (text: String, rows: [CycleMeasurement]) {
        let parts = [("Model", 0.0), ("Model, with six gaps per day, each of 30 s to 10 min", 6)].map { title, holes in
            let rows = ApplianceModel.allCases.map { model in
                (model, CycleMeasurement(model, seeds: seeds, uses: model.isCompressor ? 40 : 20, holesADay: holes))
            }
            var table = CycleTable(title)
            for (_, row) in rows { table.add(row) }
            let programmes = rows.filter { model, _ in !model.isCompressor && !model.hasNoCycles }.map(\.1)
            table.add(CycleMeasurement("*all programmes*", adding: programmes))
            return (text: table.text, rows: rows.map(\.1))
        }
        return (parts.map(\.text).joined(separator: "\n"), parts.flatMap(\.rows))
    }
}
