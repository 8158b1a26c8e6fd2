/// A series reduced to the columns of a drawing: what is lowest and highest in each, so that no spike is lost however
/// many samples share a column.
struct Envelope: Hashable {
    struct Column: Hashable {
        let index: Int
        let first: Double
        var last: Double
        var least: Double
        var greatest: Double
        /// Whether a line leads here from the column before in the list. False at the start and after a gap. (A gap
        /// that lies within one column is narrower than the drawing can show.)
        let isJoined: Bool
    }

    private(set) var columns: [Column] = []

    /// At most `count` columns, ascending, only those that have a point.
    init(of series: Series, in window: ChartWindow, columns count: Int) {
        guard count > 0 else { return }
        let scale = Double(count) / window.length
        var previousTime = -Double.infinity
        func add(_ point: ChartPoint) {
            let index = min(max(Int((point.time - window.from) * scale), 0), count - 1)
            if let end = columns.indices.last, columns[end].index == index {
                columns[end].last = point.value
                columns[end].least = min(columns[end].least, point.value)
                columns[end].greatest = max(columns[end].greatest, point.value)
            } else {
                let joined = point.time - previousTime <= series.gapLimit && !columns.isEmpty
                columns.append(
                    Column(
                        index: index, first: point.value, last: point.value, least: point.value,
                        greatest: point.value, isJoined: joined))
            }
            previousTime = point.time
        }
        let inside = series.points(in: window)
        if let entry = series.crossing(window.from, before: inside.startIndex) { add(entry) }
        for point in inside { add(point) }
        if let exit = series.crossing(window.to, before: inside.endIndex) { add(exit) }
    }

    /// What the columns span; nil when there are none.
    var range: ClosedRange<Double>? {
        guard let first = columns.first else { return nil }
        var low = first.least
        var high = first.greatest
        for column in columns {
            low = min(low, column.least)
            high = max(high, column.greatest)
        }
        return low...high
    }
}

extension Series {
    /// Where the line between the points `index - 1` and `index` crosses a time between them; nil when there is no such
    /// line.
    fileprivate func crossing(_ time: Double, before index: Int) -> ChartPoint? {
        guard index > 0, index < points.count else { return nil }
        let (left, right) = (points[index - 1], points[index])
        guard left.time < time, time < right.time, right.time - left.time <= gapLimit else { return nil }
        let share = (time - left.time) / (right.time - left.time)
        return ChartPoint(time: time, value: left.value + (right.value - left.value) * share)
    }
}
