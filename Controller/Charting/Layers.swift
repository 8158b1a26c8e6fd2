/// The lines of a chart on top of each other, column by column.
struct Layers {
    /// One series' part of a column.
    struct Slice: Hashable {
        let bottom: Double
        let top: Double
    }

    /// For each series, for each column: nil where the series has a gap.
    private(set) var slices: [[Slice?]]
    /// For each column: the sum, with the highest peak that one of the series had in it. Nil where there is none.
    private(set) var peaks: [Double?]

    init(_ chart: Chart, columns count: Int) {
        var sums = Array(repeating: 0.0, count: count)
        var rises = Array(repeating: 0.0, count: count)
        peaks = Array(repeating: nil, count: count)
        slices = []
        for series in chart.series {
            var own = [Slice?](repeating: nil, count: count)
            let columns = Envelope(of: series, in: chart.window, columns: count).columns
            for (index, column) in columns.enumerated() {
                let value = max(0, column.isExact ? (column.first + column.last) / 2 : column.mean)
                rises[column.index] = max(rises[column.index], column.greatest - value)
                own[column.index] = Slice(bottom: sums[column.index], top: sums[column.index] + value)
                guard column.isJoined, index > 0 else { continue }
                // A line that leads over columns without a point.
                let (start, from) = (columns[index - 1].index, max(0, columns[index - 1].exit))
                for between in (start + 1)..<max(column.index, start + 1) {
                    let share = Double(between - start) / Double(column.index - start)
                    own[between] = Slice(bottom: sums[between], top: sums[between] + from + (value - from) * share)
                }
            }
            for (index, slice) in own.enumerated() { sums[index] = slice?.top ?? sums[index] }
            slices.append(own)
        }
        for index in 0..<count where slices.contains(where: { $0[index] != nil }) {
            peaks[index] = sums[index] + rises[index]
        }
    }

    /// Nil when there is nothing.
    var highest: Double? { peaks.compactMap(\.self).max() }
}

/// The bars of a chart on top of each other.
struct BarStack {
    struct Piece: Hashable {
        let series: Int
        let bottom: Double
        /// Above this it is estimated.
        let known: Double
        let top: Double
    }

    struct Stack: Hashable {
        let from: Double
        let to: Double
        var pieces: [Piece]

        var top: Double { pieces.last?.top ?? 0 }
    }

    /// Ascending in time.
    let stacks: [Stack]

    init(_ chart: Chart) {
        var stacks: [Double: Stack] = [:]
        for (index, series) in chart.series.enumerated() {
            for bar in series.bars(in: chart.window) {
                var stack = stacks[bar.from] ?? Stack(from: bar.from, to: bar.to, pieces: [])
                let bottom = stack.top
                stack.pieces.append(
                    Piece(
                        series: index, bottom: bottom, known: bottom + bar.value - bar.estimated,
                        top: bottom + bar.value))
                stacks[bar.from] = stack
            }
        }
        self.stacks = stacks.values.sorted { $0.from < $1.from }
    }

    /// Nil when there is nothing.
    var highest: Double? { stacks.map(\.top).max() }
}
