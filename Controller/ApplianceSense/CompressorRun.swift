/// A span in which the appliance is on.
struct CompressorRun {
    /// Milliseconds in which a motor starts and reaches its level.
    static let settling: Int64 = 60_000
    /// Milliseconds. The start current of a motor is within this time.
    static let inrush: Int64 = 10_000
    /// Milliseconds. Until then the power is compared with that of the first minute.
    static let comparison: Int64 = 300_000

    let start: Int64
    private(set) var lastOn: Int64
    /// True if the start was observed.
    let isWhole: Bool
    var isSaid = false
    private var peak: Int32 = 0
    private var startPeak: Int32 = 0
    private var sums: EnergySums = (0, 0)
    private var settled: EnergySums = (0, 0)
    /// The sums between the start current and the end of the first minute, and in the four minutes after it.
    private var first: EnergySums = (0, 0)
    private var second: EnergySums = (0, 0)
    /// The numbers of samples after the first minute, and of those that differ from the previous one.
    private var counts: (samples: Int64, jumps: Int64) = (0, 0)
    /// The last two samples of the run. The last one may be an average of the run and the following rest.
    private var newest: (Int32, Int32) = (0, 0)

    init(at time: Int64, isWhole: Bool) {
        start = time
        lastOn = time
        self.isWhole = isWhole
    }

    mutating func add(_ step: PowerStep, isOn: Bool) {
        guard isOn else { return }
        // The steps into and out of the run do not belong to it.
        lastOn = step.time
        peak = max(peak, step.power)
        defer { newest = (newest.1, step.power) }
        let age = step.time - start
        if age <= Self.inrush { startPeak = max(startPeak, step.power) }
        guard age > 0 else { return }
        sums.energy += step.energy
        sums.covered += step.covered
        if age > Self.inrush, age <= Self.settling {
            first.energy += step.energy
            first.covered += step.covered
        }
        guard age >= Self.settling else { return }
        settled.energy += step.energy
        settled.covered += step.covered
        if age <= Self.comparison {
            second.energy += step.energy
            second.covered += step.covered
        }
        counts.samples += 1
        if Self.isJump(from: newest.0, to: newest.1) { counts.jumps += 1 }
    }

    /// Returns true if samples differ by more than 8 % and 4.5 W, which is more than a meter's coarse steps.
    private static func isJump(from old: Int32, to new: Int32) -> Bool {
        let change = Int64(new) - Int64(old)
        return change.magnitude > 45 && change.magnitude * 100 > Int64(old).magnitude * 8
    }

    var length: Int64 { lastOn - start }
    var isSettled: Bool { settled.covered > 0 && lastOn - start > Self.settling }
    /// The mean power in tenths of a watt, without the first minute.
    var level: Int64 { settled.covered > 0 ? settled.energy / settled.covered : 0 }
    /// True if the power changed in few samples, as that of a motor under a constant load does; and fell at once at the
    /// end of the run, and not slowly as the current of a charger does.
    var isSteady: Bool {
        counts.jumps <= 3 + counts.samples / 100 && newest.0 * 4 >= CompressorTracker.lowest * 5
    }
    /// True if the power shows that a motor or compressor started: a peak, or at least 3.5 % more power in the first
    /// minute than in the next four, because the pressure has to build up.
    var hasStart: Bool { hasPeak || hasPressure }

    /// True if only a compressor's power has this start: a peak, or a power that continues to decrease by 2 % after the
    /// first minutes, as the refrigerator cools.
    var hasClearStart: Bool { hasPeak || hasPressure && second.energy * 100 >= level * second.covered * 102 }

    /// True if the start current was observed: a peak of at least 1.3 times the power of the minutes after the first
    /// one. A sample may miss it, because it lasts about a second.
    private var hasPeak: Bool {
        isWhole && second.covered > 0 && Int64(startPeak) * 10 * second.covered >= second.energy * 13
    }

    private var hasPressure: Bool {
        guard isWhole, first.covered >= 20_000, second.covered > 0 else { return false }
        return first.energy * 1_000 / first.covered >= second.energy * 1_035 / second.covered
    }

    func cycle(_ kind: ApplianceCycle.Kind, end: Int64?, said: Int64?) -> ApplianceCycle {
        ApplianceCycle(
            kind: kind, start: start, end: end, said: said, milliwattHours: PowerStep.milliwattHours(sums.energy),
            coveredMilliseconds: sums.covered, peakDeciwatts: peak, phases: [])
    }
}
