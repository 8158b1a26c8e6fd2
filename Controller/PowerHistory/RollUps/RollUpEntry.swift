/// What a minute, quarter, hour or day was like.
struct RollUpEntry: Hashable, Sendable {
    /// Milliseconds between samples that are at most ``longestStep`` apart.
    var covered: Int64 = 0
    /// Nil where there was no sample.
    var power: Power?
    /// What flowed, in microwatt-hours: of a quarter, and of what is made of quarters.
    var energy: Int64 = 0
    /// The part of it that belongs to time without samples.
    var estimated: Int64 = 0

    struct Power: Hashable, Sendable {
        /// Milliwatts, over the covered time; the middle between the others where none is covered.
        var mean: Int64
        /// Deciwatts, of the samples.
        var least: Int32
        var greatest: Int32
    }

    /// Neighbouring samples that are further apart have a hole between them.
    static let longestStep: Int64 = 30_000

    /// Milliwatts times milliseconds.
    var integral: Int64 { (power?.mean ?? 0) * covered }

    var isEmpty: Bool { power == nil && energy == 0 && estimated == 0 }
}

/// Makes one entry of several shorter ones.
struct EntrySum {
    private var covered: Int64 = 0
    /// Milliwatts times milliseconds: beyond Int64 only for a day at more than a hundred megawatts.
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
    /// The nearest whole number that is at most so far from zero; of what is no number, zero.
    init(nearest value: Double, limit: Int64) {
        self = value.isNaN ? 0 : Int64(Swift.min(Swift.max(value, -Double(limit)), Double(limit)).rounded())
    }
}
