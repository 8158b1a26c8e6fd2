/// A counter reading on the wall clock.
struct CounterPoint: Hashable, Sendable {
    /// Milliseconds since 1970.
    var time: Int64
    /// The boot's row in the table of boots. After a restart the counter may fall back to the value that the plug had
    /// stored.
    var boot: Int64
    var milliwattHours: UInt64
}

/// Distributes the energy of the plug's counter over quarters of an hour. Between two readings the rise of the counter
/// is the energy, even if samples are missing; the samples only determine its distribution. The samples alone determine
/// the energy before the first reading, after the last one, and between two readings whose rise is implausible: a
/// counter that fell was reset or restored, and a counter that rose by more than any plug can carry belongs to a
/// different plug. If the plug restarted between two readings, the rise may lack energy, so the energy is at least that
/// of the samples. A minute that contains a reading is cut there, so that no energy counts twice. Energy that is fed
/// back counts as zero, as in the plug's counter.
struct EnergyShares {
    /// The longest interval between two readings, in milliseconds. For a longer interval, only the samples determine
    /// the energy.
    static let longestInterval: Int64 = 800 * 86_400_000

    /// The greatest plausible rise between two readings, in milliwatt-hours: the energy at 100 kW, plus 1 kWh for clock
    /// adjustments.
    private static func greatestRise(in milliseconds: Int64) -> UInt64 {
        1_000_000 + UInt64(max(0, milliseconds)) / 36 * 1000
    }

    /// The energy of one quarter.
    struct Share: Hashable, Sendable {
        /// Microwatt-hours.
        var energy = 0.0
        /// The part of `energy` that belongs to time without samples, in microwatt-hours.
        var estimated = 0.0
    }

    /// The energy of a part of a minute and of the whole minute, according to the samples.
    typealias Cut = (part: Double, whole: Double)

    /// The first quarter, as a multiple of its length since 1970.
    private let first: Int64
    private(set) var shares: [Share]

    private static let quarter = RollUpStep.quarter.milliseconds
    private static let minute = RollUpStep.minute.milliseconds

    /// Distributes energy over quarters.
    ///
    /// - Parameters:
    ///   - quarters: The quarters to fill, as multiples of their length since 1970.
    ///   - points: Sorted by time. They include the last reading at or before the first quarter's beginning, and the
    ///     first reading at or after the last quarter's end, if these exist.
    ///   - minutes: Sorted by time. They include all minutes in the quarters and in the intervals between readings that
    ///     overlap the quarters.
    ///   - cut: Returns the energies of a part of a minute and of the whole minute, or nil if no samples around this
    ///     minute are stored. Its parameters are the beginning and the end of the part, in milliseconds since 1970.
    init(
        quarters: Range<Int64>, points: [CounterPoint], minutes: [(start: Int64, entry: RollUpEntry)],
        cut: (_ from: Int64, _ to: Int64) throws -> Cut?
    ) rethrows {
        first = quarters.lowerBound
        shares = Array(repeating: Share(), count: quarters.count)
        let (begin, end) = (quarters.lowerBound * Self.quarter, quarters.upperBound * Self.quarter)
        guard begin < end else { return }
        var place = 0
        var edge: CounterPoint?
        for point in points {
            try share(edge, point, max(edge?.time ?? begin, begin), min(point.time, end), minutes, &place, cut)
            edge = point
        }
        try share(edge, nil, max(edge?.time ?? begin, begin), end, minutes, &place, cut)
    }

    /// - Parameter place: The index of the first minute that may overlap this interval or a later one.
    private mutating func share(
        _ left: CounterPoint?, _ right: CounterPoint?, _ begin: Int64, _ end: Int64,
        _ minutes: [(start: Int64, entry: RollUpEntry)], _ place: inout Int,
        _ cut: (_ from: Int64, _ to: Int64) throws -> Cut?
    ) rethrows {
        guard begin < end else { return }
        var (from, to) = (begin, end)
        var rise: Double?
        if let left, let right, right.milliwattHours >= left.milliwattHours,
            right.time - left.time <= Self.longestInterval,
            right.milliwattHours - left.milliwattHours <= Self.greatestRise(in: right.time - left.time)
        {
            rise = Double(right.milliwattHours - left.milliwattHours) * 1000
            (from, to) = (left.time, right.time)
        }
        while place > 0, minutes[place - 1].start + Self.minute > from { place -= 1 }
        while place < minutes.count, minutes[place].start + Self.minute <= from { place += 1 }
        var seen = Stretch(from: from, to: to)
        var index = place
        while index < minutes.count, minutes[index].start < to {
            // Between readings with a plausible rise, a cut minute is divided in proportion to time.
            try seen.add(minutes[index]) { from, to in rise == nil ? try cut(from, to) : nil }
            index += 1
        }
        if let left, let right, left.boot != right.boot { rise = rise.map { max($0, seen.energy) } }
        give(seen, rise, from: begin, to: end)
    }

    private mutating func give(_ seen: Stretch, _ rise: Double?, from begin: Int64, to end: Int64) {
        let length = Double(seen.to - seen.from)
        let uncovered = max(0, length - seen.covered)
        let missing = (rise ?? seen.energy) - seen.energy
        // A short uncovered time between a reading and the next sample is not a gap.
        let hasHole = uncovered > Double(RollUpEntry.longestStep)
        var quarter = floorQuotient(begin, Self.quarter)
        while quarter * Self.quarter < end {
            let (start, next) = (quarter * Self.quarter, (quarter + 1) * Self.quarter)
            let part = seen.parts[quarter] ?? Stretch.Part()
            let time = Double(min(next, seen.to) - max(start, seen.from))
            var share = Share(energy: part.energy)
            if let rise {
                if missing > 0, hasHole || seen.covered == 0 {
                    share.estimated = missing * max(0, time - part.covered) / uncovered
                    share.energy += share.estimated
                } else if seen.energy > 0 {
                    share.energy = rise * (part.energy / seen.energy)
                } else {
                    share.energy = rise * time / length
                }
            }
            shares[Int(quarter - first)].energy += share.energy
            shares[Int(quarter - first)].estimated += share.estimated
            quarter += 1
        }
    }

    /// The energy that the samples show between two readings.
    private struct Stretch {
        struct Part {
            /// Microwatt-hours.
            var energy = 0.0
            /// Milliseconds.
            var covered = 0.0
        }

        let from: Int64
        let to: Int64
        var energy = 0.0
        var covered = 0.0
        /// Keyed by quarter.
        var parts: [Int64: Part] = [:]

        init(from: Int64, to: Int64) {
            self.from = from
            self.to = to
        }

        mutating func add(
            _ minute: (start: Int64, entry: RollUpEntry), cut: (_ from: Int64, _ to: Int64) throws -> Cut?
        ) rethrows {
            let (begin, end) = (max(minute.start, from), min(minute.start + EnergyShares.minute, to))
            guard begin < end else { return }
            let fraction = Double(end - begin) / Double(EnergyShares.minute)
            var share = fraction
            if fraction < 1, let cut = try cut(begin, end), cut.whole > 0 { share = min(1, cut.part / cut.whole) }
            let part = Part(
                energy: Double(max(0, minute.entry.power?.mean ?? 0)) * Double(minute.entry.covered) / 3600 * share,
                covered: Double(minute.entry.covered) * fraction)
            energy += part.energy
            covered += part.covered
            parts[floorQuotient(minute.start, EnergyShares.quarter), default: Part()].energy += part.energy
            parts[floorQuotient(minute.start, EnergyShares.quarter), default: Part()].covered += part.covered
        }
    }
}
