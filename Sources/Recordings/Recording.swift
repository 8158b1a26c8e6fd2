/// The measured power of an appliance over time: a list of points in the order of time, at least one.
///
/// The value of a point is valid until the next point, even over a gap of many minutes: a load from a recording must
/// have some power, and any other value would be invented. Importers of recordings use ``points`` and can detect the
/// gaps.
public struct Recording: Hashable, Sendable {
    /// A point of the recording.
    public struct Point: Hashable, Sendable {
        /// Milliseconds since midnight before the first point if the recording has dates, otherwise since the
        /// recording's own zero.
        public var milliseconds: Int64
        /// Active power in tenths of a watt.
        public var deciwatts: Int32

        /// Creates a point.
        public init(milliseconds: Int64, deciwatts: Int32) {
            self.milliseconds = milliseconds
            self.deciwatts = deciwatts
        }
    }

    /// The points in the order of time. Of several points with the same time, the last one counts.
    public let points: [Point]
    /// The local day of the first point; nil for a recording without dates.
    public let day: CalendarDay?

    /// The limit of points (16 MB of memory, 11 days at one per second).
    public static let pointLimit = 1_000_000

    /// Creates a recording. Returns nil without points, with more than ``pointLimit``, or if the time decreases.
    public init?(points: [Point], day: CalendarDay? = nil) {
        guard !points.isEmpty, points.count <= Self.pointLimit,
            zip(points, points.dropFirst()).allSatisfy({ $0.milliseconds <= $1.milliseconds })
        else { return nil }
        self.init(checked: points, day: day)
    }

    init(checked points: [Point], day: CalendarDay?) {
        self.points = points
        self.day = day
    }

    /// Returns the active power in tenths of a watt at a time: the value of the last point at or before that time, or
    /// of the first point if all points are later.
    public func deciwatts(at milliseconds: Int64) -> Int32 {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].milliseconds <= milliseconds { low = middle + 1 } else { high = middle }
        }
        return points[max(0, low - 1)].deciwatts
    }
}

/// A day of the Gregorian calendar.
public struct CalendarDay: Hashable, Sendable {
    /// The year, 1970 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a day. Returns nil if the date does not exist. Years range from 1970 to 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month) else { return nil }
        let leap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        guard (1...length).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Days since 1 January 1970.
    public var number: Int {
        // The computation starts years in March, so that 29 February is the last day of a year.
        let shifted = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * months + 2) / 5 + day - 1 - 719_468
    }
}
