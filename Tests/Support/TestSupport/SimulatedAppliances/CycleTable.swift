/// A table in Markdown: the results of the detector and of naive rules for each appliance.
public struct CycleTable {
    private var lines: [String]

    /// Creates a table whose first column has this title.
    public init(_ title: String) {
        let header = [
            title, "samples", "true cycles", "found", "missed", "false", "delay, median (longest)",
            "below 5 W: false", "... delay", "for 60 s: false", "... delay", "for 300 s: false", "... delay",
        ]
        lines = [Self.line(header), Self.line(["---"] + header.dropFirst().map { _ in "---:" })]
    }

    /// Adds the row of one appliance.
    public mutating func add(_ row: CycleMeasurement) {
        let sense = row.sense
        lines.append(
            Self.line(
                [
                    row.name, "\(row.samples)", "\(sense.trueCycles)", "\(sense.found)", "\(sense.missed)",
                    "\(sense.wrong)", Self.delay(sense),
                ] + row.naive.flatMap { ["\($0.wrong)", Self.seconds($0.medianDelay)] }))
    }

    /// The table as Markdown.
    public var text: String { lines.joined(separator: "\n") + "\n" }

    private static func delay(_ score: Score) -> String {
        score.delays.isEmpty ? "-" : "\(seconds(score.medianDelay)) (\(seconds(score.longestDelay)))"
    }

    private static func seconds(_ value: Double?) -> String { value.map { "\(Int($0.rounded())) s" } ?? "-" }

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

extension CycleTable {
    /// Returns the results for all simulated appliances, on a plug that starts without a learned profile. They are the
    /// same in each run, except the processing times.
    public static func models() -> (text: String, rows: [CycleMeasurement]) {
        var whole = CycleTable("Model")
        var torn = CycleTable("Model, with six gaps per day, each of 30 s to 10 min")
        var rows: [CycleMeasurement] = []
        for model in ApplianceModel.allCases {
            let uses = model == .refrigerator ? 300 : 60
            let one = model.script(uses: uses, seed: 1)
            rows.append(CycleMeasurement(model.rawValue, one.points, truth: one.cycles))
            whole.add(rows[rows.count - 1])
            let two = model.script(uses: uses, seed: 2, holesADay: 6)
            rows.append(CycleMeasurement(model.rawValue + " with holes", two.points, truth: two.cycles))
            torn.add(rows[rows.count - 1])
        }
        return (whole.text + "\n" + torn.text, rows)
    }
}
