public import Charting
import LinuxSystem

extension SampleRecord {
    /// Returns a plug's active power between two times for a drawing with this number of columns. If there are more
    /// than two values per column on average, each column is summarized with its minimum and maximum.
    ///
    /// - Parameters:
    ///   - kept: the history's data.
    ///   - newer: data that is not in the history yet, in the order of time; points up to 0.1 s after the history's
    ///     newest sample are ignored.
    ///   - from: seconds since 1970, like `to`.
    public static func records(
        of plug: String, kept: StoredPowerSeries, newer: [ChartPoint], from: Double, to: Double, columns: Int
    ) -> [SampleRecord] {
        // The times in the history and those of newer data are separate estimates, which may differ by some
        // milliseconds.
        let end = (kept.newest ?? -.infinity) + 0.1
        let points = kept.points + newer.filter { $0.time > end }
        let pieces =
            kept.summaries.filter { $0.to > from && $0.from <= to }.map(Piece.init)
            + points.filter { $0.time >= from && $0.time <= to }.map(Piece.init)
        guard pieces.count > 2 * columns else { return pieces.map { $0.record(plug) } }
        return columned(pieces, width: max(1, ((to - from) / Double(columns)).rounded(.up))).map { $0.record(plug) }
    }

    /// The longest time in seconds between two samples that are connected, as in the history. A longer time is a gap.
    private static let gapLimit = 30.0

    /// Returns one piece per column with data. Columns are at multiples of their width since 1970, so that a moving
    /// drawing does not flicker.
    private static func columned(_ pieces: [Piece], width: Double) -> [Piece] {
        var columns: [Piece] = []
        var weighted = 0.0
        // The sum of the weights may exceed the covered time, which is limited to the column's width: a sample also
        // covers time before the column.
        var weight = 0.0
        var sum = 0.0
        var count = 0.0
        var last: Piece?
        func finish() {
            guard !columns.isEmpty else { return }
            let end = columns.count - 1
            columns[end].mean = weight > 0 ? weighted / weight : sum / count
        }
        for piece in pieces {
            let begin = (piece.from / width).rounded(.down) * width
            if columns.last?.from != begin {
                finish()
                (weighted, weight, sum, count) = (0, 0, 0, 0)
                columns.append(Piece(from: begin, covered: 0, mean: 0, least: piece.least, greatest: piece.greatest))
            }
            let end = columns.count - 1
            // A sample covers the time since the previous one.
            let step = last.map { piece.from - $0.from } ?? .infinity
            let covered = piece.isSample ? (step <= gapLimit ? step : 0) : piece.covered
            columns[end].covered = min(columns[end].covered + covered, max(width, piece.covered))
            columns[end].least = min(columns[end].least, piece.least)
            columns[end].greatest = max(columns[end].greatest, piece.greatest)
            weighted += piece.mean * covered
            weight += covered
            sum += piece.mean
            count += 1
            last = piece
        }
        finish()
        return columns
    }

    /// A sample or a summary.
    private struct Piece {
        var from: Double
        var covered: Double
        var mean: Double
        var least: Double
        var greatest: Double
        var isSample = false

        init(from: Double, covered: Double, mean: Double, least: Double, greatest: Double) {
            (self.from, self.covered, self.mean, self.least, self.greatest) = (from, covered, mean, least, greatest)
        }

        init(_ summary: ChartSummary) {
            self.init(
                from: summary.from, covered: summary.covered, mean: summary.mean, least: summary.least,
                greatest: summary.greatest)
        }

        init(_ point: ChartPoint) {
            self.init(from: point.time, covered: 0, mean: point.value, least: point.value, greatest: point.value)
            isSample = true
        }

        func record(_ plug: String) -> SampleRecord {
            let at = WallTime(seconds: from).iso8601()
            guard !isSample else { return SampleRecord(plug: plug, at: at, activePower: mean) }
            return SampleRecord(
                plug: plug, at: at, activePower: (mean * 100).rounded() / 100, minActivePower: least,
                maxActivePower: greatest, covered: (covered * 1000).rounded() / 1000)
        }
    }
}
