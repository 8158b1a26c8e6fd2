/// The lines of a chart as stacked layers, column by column. Positive values are stacked above the axis, negative
/// values, such as the output of a solar plant, below it.
struct Layers {
    /// A series' part of a column.
    struct Slice: Hashable {
        /// The edge towards zero.
        let bottom: Double
        /// The edge away from zero. It is below `bottom` if the value is negative.
        let top: Double
    }

    /// The slices per series and column; nil in a gap of the series.
    private(set) var slices: [[Slice?]]
    /// Per column: the sum above zero, plus the largest rise of a single series over its value in the column. Nil if no
    /// series has a value of zero or more in the column.
    private(set) var peaks: [Double?]
    /// The sums above and below zero, per column.
    private var heights: [Double]
    private var depths: [Double]

    init(_ chart: Chart, columns count: Int) {
        heights = Array(repeating: 0, count: count)
        depths = Array(repeating: 0, count: count)
        var rises = Array(repeating: 0.0, count: count)
        peaks = Array(repeating: nil, count: count)
        slices = []
        for series in chart.series {
            var own = [Slice?](repeating: nil, count: count)
            let columns = Envelope(of: series, in: chart.window, columns: count).columns
            for (index, column) in columns.enumerated() {
                let value = column.isExact ? (column.first + column.last) / 2 : column.mean
                rises[column.index] = max(rises[column.index], max(0, column.greatest) - max(0, value))
                own[column.index] = slice(column.index, value)
                guard column.isJoined, index > 0 else { continue }
                // The line crosses columns without a point.
                let (start, from) = (columns[index - 1].index, columns[index - 1].exit)
                for between in (start + 1)..<max(column.index, start + 1) {
                    let share = Double(between - start) / Double(column.index - start)
                    own[between] = slice(between, from + (value - from) * share)
                }
            }
            for (index, slice) in own.enumerated() {
                guard let slice else { continue }
                if slice.top < slice.bottom { depths[index] = slice.top } else { heights[index] = slice.top }
            }
            slices.append(own)
        }
        for index in 0..<count where slices.contains(where: { $0[index].map { $0.top >= $0.bottom } ?? false }) {
            peaks[index] = heights[index] + rises[index]
        }
    }

    private func slice(_ index: Int, _ value: Double) -> Slice {
        let zero = value < 0 ? depths[index] : heights[index]
        return Slice(bottom: zero, top: zero + value)
    }

    /// The range of all slices and peaks; nil without data.
    var range: ClosedRange<Double>? {
        guard slices.contains(where: { $0.contains { $0 != nil } }) else { return nil }
        return (depths.min() ?? 0)...(peaks.compactMap(\.self).max() ?? 0)
    }

    /// Returns the sum of the values above zero in a column; nil if no series has a value of zero or more.
    func height(_ index: Int) -> Double? { peaks[index] == nil ? nil : heights[index] }
}

/// The bars of a chart as stacks.
struct BarStack {
    struct Piece: Hashable {
        let series: Int
        let bottom: Double
        /// The upper end of the measured part. The part above it is estimated.
        let known: Double
        let top: Double
    }

    struct Stack: Hashable {
        let from: Double
        let to: Double
        var pieces: [Piece]

        var top: Double { pieces.last?.top ?? 0 }
    }

    /// The stacks, sorted by time.
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

    /// The height of the highest stack; nil without data.
    var highest: Double? { stacks.map(\.top).max() }
}
