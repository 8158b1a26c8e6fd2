/// A series reduced to the columns of a drawing: its line, and the lowest and highest value per column. No spike is
/// lost, however many samples share a column.
struct Envelope: Hashable {
    struct Column: Hashable {
        let index: Int
        let first: Double
        var last: Double
        var least: Double
        var greatest: Double
        /// The mean, weighted by time.
        var mean: Double
        /// True if the line shows every value: it then runs from the first to the last value. Otherwise it runs through
        /// the mean, with a band from the least to the greatest value.
        var isExact: Bool
        /// True if a line leads here from the previous column in the list. False at the start and after a gap. (A gap
        /// within one column is too narrow to be drawn.)
        let isJoined: Bool

        /// The values at which the line enters and leaves the column.
        var entry: Double { isExact ? first : mean }
        var exit: Double { isExact ? last : mean }
    }

    private(set) var columns: [Column] = []

    /// Creates at most `count` columns in ascending order, only those with data.
    init(of series: Series, in window: ChartWindow, columns count: Int) {
        guard count > 0 else { return }
        columns.reserveCapacity(min(count, series.points.count + series.summaries.count + 2))
        var builder = Builder(window: window, count: count, gapLimit: series.gapLimit)
        for summary in series.summaries(in: window) {
            if let done = builder.add(summary) { columns.append(done) }
        }
        let inside = series.points(in: window)
        if let entry = series.crossing(window.from, before: inside.startIndex), let done = builder.add(entry) {
            columns.append(done)
        }
        inside.withUnsafeBufferPointer { points in
            for point in points {
                if let done = builder.add(point) { columns.append(done) }
            }
        }
        if let exit = series.crossing(window.to, before: inside.endIndex), let done = builder.add(exit) {
            columns.append(done)
        }
        if let done = builder.finish() { columns.append(done) }
    }

    /// The range of all columns; nil without columns.
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

    /// The column that is being filled. Adding the points takes most of the time of drawing a day, so the values are
    /// separate fields, which the compiler can hold in registers.
    private struct Builder {
        let start: Double
        let scale: Double
        let count: Int
        let gapLimit: Double
        var index = -1
        var samples = 0
        var isSummarised = false
        var isJoined = false
        var first = 0.0
        var last = 0.0
        var least = 0.0
        var greatest = 0.0
        var area = 0.0
        var duration = 0.0
        var sum = 0.0
        var previousTime = -Double.infinity

        init(window: ChartWindow, count: Int, gapLimit: Double) {
            start = window.from
            scale = Double(count) / window.length
            self.count = count
            self.gapLimit = gapLimit
        }

        /// - Returns: The previous column, if the point begins a new one.
        @inline(__always)
        mutating func add(_ point: ChartPoint) -> Column? {
            let step = point.time - previousTime
            let joined = step <= gapLimit && index >= 0
            let done = enter(column(of: point.time), joined: joined, value: point.value)
            if joined {
                area += (point.value + last) / 2 * step
                duration += step
            }
            samples += 1
            sum += point.value
            add(last: point.value, least: point.value, greatest: point.value, time: point.time)
            return done
        }

        /// Adds a summary to the column of its middle. A gap that follows the summary begins at the summary's end.
        mutating func add(_ summary: ChartSummary) -> Column? {
            let joined = summary.from - previousTime <= gapLimit && index >= 0
            let done = enter(column(of: (summary.from + summary.to) / 2), joined: joined, value: summary.mean)
            area += summary.mean * summary.covered
            duration += summary.covered
            samples += 1
            sum += summary.mean
            isSummarised = true
            add(last: summary.mean, least: summary.least, greatest: summary.greatest, time: summary.to)
            return done
        }

        @inline(__always)
        private func column(of time: Double) -> Int { min(max(Int((time - start) * scale), 0), count - 1) }

        @inline(__always)
        private mutating func enter(_ column: Int, joined: Bool, value: Double) -> Column? {
            guard column != index else { return nil }
            let done = finish()
            index = column
            isJoined = joined
            isSummarised = false
            samples = 0
            (first, least, greatest) = (value, value, value)
            (area, duration, sum) = (0, 0, 0)
            if !joined { last = value }
            return done
        }

        @inline(__always)
        private mutating func add(last value: Double, least low: Double, greatest high: Double, time: Double) {
            last = value
            least = min(least, low)
            greatest = max(greatest, high)
            previousTime = time
        }

        func finish() -> Column? {
            guard index >= 0 else { return nil }
            let mean = duration > 0 ? area / duration : sum / Double(max(samples, 1))
            return Column(
                index: index, first: first, last: last, least: least, greatest: greatest,
                mean: min(max(mean, least), greatest), isExact: samples <= 2 && !isSummarised, isJoined: isJoined)
        }
    }
}

extension Series {
    /// Returns the point where the line between the points `index - 1` and `index` crosses a time; nil without such a
    /// line.
    fileprivate func crossing(_ time: Double, before index: Int) -> ChartPoint? {
        guard index > 0, index < points.count else { return nil }
        let (left, right) = (points[index - 1], points[index])
        guard left.time < time, time < right.time, right.time - left.time <= gapLimit else { return nil }
        let share = (time - left.time) / (right.time - left.time)
        return ChartPoint(time: time, value: left.value + (right.value - left.value) * share)
    }
}
