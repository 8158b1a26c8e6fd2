/// The summary of a minute, quarter-hour, hour or day.
struct RollUpEntry: Hashable, Sendable {
    /// The time between samples that are at most ``longestStep`` apart, in milliseconds.
    var covered: Int64 = 0
    /// The power; nil without samples.
    var power: Power?
    /// The energy in microwatt-hours. Zero for minutes.
    var energy: Int64 = 0
    /// The part of the energy that belongs to time without samples, in microwatt-hours.
    var estimated: Int64 = 0

    struct Power: Hashable, Sendable {
        /// The mean in milliwatts over the covered time. If no time is covered, the middle between `least` and
        /// `greatest`.
        var mean: Int64
        /// The least sample in deciwatts.
        var least: Int32
        /// The greatest sample in deciwatts.
        var greatest: Int32
    }

    /// The longest distance of neighboring samples without a gap, in milliseconds.
    static let longestStep: Int64 = 30_000

    /// Milliwatts times milliseconds.
    var integral: Int64 { (power?.mean ?? 0) * covered }

    var isEmpty: Bool { power == nil && energy == 0 && estimated == 0 }
}

/// Sums up several entries to one longer entry.
struct EntrySum {
    private var covered: Int64 = 0
    /// Milliwatts times milliseconds. A Double does not overflow for a day at more than a hundred megawatts, as an
    /// Int64 would.
    private var integral: Double = 0
    private var extremes: (least: Int32, greatest: Int32)?
    private var energy: Int64 = 0
    private var estimated: Int64 = 0

    mutating func add(_ entry: RollUpEntry) {
        energy &+= entry.energy
        estimated &+= entry.estimated
        guard let power = entry.power else { return }
        covered += entry.covered
        integral += Double(power.mean) * Double(entry.covered)
        extremes = (
            min(extremes?.least ?? .max, power.least), max(extremes?.greatest ?? .min, power.greatest)
        )
    }

    var entry: RollUpEntry {
        let power = extremes.map { extremes in
            RollUpEntry.Power(
                mean: covered > 0
                    ? Int64(nearest: integral / Double(covered), limit: 1 << 40)
                    : (Int64(extremes.least) + Int64(extremes.greatest)) * 50,
                least: extremes.least, greatest: extremes.greatest)
        }
        return RollUpEntry(covered: covered, power: power, energy: energy, estimated: estimated)
    }
}

extension Int64 {
    /// Rounds a value to the nearest integer and clamps its magnitude to `limit`. NaN becomes zero.
    init(nearest value: Double, limit: Int64) {
        self = value.isNaN ? 0 : Int64(Swift.min(Swift.max(value, -Double(limit)), Double(limit)).rounded())
    }
}
