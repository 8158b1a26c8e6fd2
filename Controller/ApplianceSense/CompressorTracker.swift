/// Finds the runs of a compressor, whose power, length and rest repeat.
///
/// A run can be recognized only after others have followed. The first runs are therefore kept and reported together
/// with the fourth run, or with the sixth on a plug with earlier programmes. After that each run is reported at its
/// end.
struct CompressorTracker {
    /// Milliseconds. A compressor rests for minutes, so a quiet span of this length ends the run.
    static let quietAtEnd: Int64 = 10_000
    static let runLengths: ClosedRange<Int64> = 120_000...5_400_000
    static let rests: ClosedRange<Int64> = 120_000...7_200_000
    /// Tenths of a watt. Household compressors need 40 to 400 W.
    static let levels: ClosedRange<Int64> = 300...5_000
    /// Milliseconds. A longer gap may hide a whole rest, so it ends the run.
    static let longestHole: Int64 = 600_000
    /// The number of similar runs that identify a compressor. A plug with earlier programmes needs more.
    static let runsNeeded = 4
    static let runsNeededAfterProgrammes = 6
    /// The maximum number of kept runs. Runs with gaps are kept, but do not count as similar runs that identify a
    /// compressor.
    static let pendingLimit = 16
    /// The score at which the compressor is forgotten. A run that does not fit the compressor adds two points, and a
    /// run that fits subtracts one point.
    static let misfitLimit = 12

    private var isRunning = false
    /// The present run, changed in place with every sample. Not valid while `isRunning` is false.
    private var run = CompressorRun(at: 0, isWhole: false)
    private var quiet: Int64 = 0
    /// True if the rest before the next run was observed, so that the start of that run is known.
    private var hasRested = false
    private var pending: [Pending] = []
    private var lastStart: Int64?
    private var misfits = 0

    private struct Pending {
        var cycle: ApplianceCycle
        var end: Int64
        var level: Int64
        /// True if the run was observed from start to end.
        var isWhole: Bool

        var length: Int64 { end - cycle.start }
    }

    var running: ApplianceCycle? {
        isRunning && run.isSaid ? run.cycle(.compressor, end: nil, said: nil) : nil
    }

    mutating func handle(_ step: PowerStep, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]) {
        let onFrom = profile.compressor.map { max(100, $0.level / 2) } ?? Int32(Self.levels.lowerBound)
        let isOn = step.power >= onFrom
        if isRunning, step.elapsed > Self.longestHole {
            run.isWhole = false
            end(run, at: step.time, &profile, &events)
            (isRunning, hasRested) = (false, false)
        }
        guard isRunning else {
            guard isOn else { return hasRested = true }
            run = CompressorRun(at: step.time, isWhole: hasRested && step.elapsed <= PowerStep.longest)
            (isRunning, quiet) = (true, 0)
            return run.add(step, isOn: true)
        }
        run.add(step, isOn: isOn)
        quiet = isOn ? 0 : quiet + step.credited
        if quiet >= Self.quietAtEnd {
            end(run, at: step.time, &profile, &events)
            (isRunning, hasRested) = (false, true)
        } else if isOn, !run.isSaid, let compressor = profile.compressor, run.isSettled,
            fits(run.level, compressor.level)
        {
            run.isSaid = true
            events.append(.started(.compressor, start: run.start))
        }
    }

    private mutating func end(
        _ run: CompressorRun, at time: Int64, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        guard let known = profile.compressor else { return gather(run, at: time, &profile, &events) }
        guard run.isSettled else { return }
        if fits(run.level, known.level) {
            events.append(.finished(run.cycle(.compressor, end: run.lastOn, said: time)))
            learn(run, &profile)
        } else {
            if run.level > Int64(known.level), run.isFlat {
                events.append(.finished(run.cycle(.defrost, end: run.lastOn, said: time)))
            }
            judge(isLike: false, &profile)
        }
    }

    private mutating func judge(isLike: Bool, _ profile: inout ApplianceProfile) {
        misfits = isLike ? max(0, misfits - 1) : misfits + 2
        if misfits >= Self.misfitLimit { (profile.compressor, misfits) = (nil, 0) }
    }

    /// Returns true if the level is within 40 % below and 60 % above the known one, which allows for a warm room or a
    /// full refrigerator.
    private func fits(_ level: Int64, _ known: Int32) -> Bool {
        level * 10 >= Int64(known) * 6 && level * 10 <= Int64(known) * 16
    }

    private mutating func learn(_ run: CompressorRun, _ profile: inout ApplianceProfile) {
        guard var known = profile.compressor else { return }
        if run.isWhole, Self.runLengths.contains(run.length) {
            known.level += (Int32(clamping: run.level) - known.level) / 8
            known.runMilliseconds += (run.length - known.runMilliseconds) / 8
            if known.runs < .max { known.runs += 1 }
        }
        let period = lastStart.map { run.start - $0 } ?? known.periodMilliseconds
        // A run that was missed in a gap would double the period.
        if (1...known.periodMilliseconds * 7 / 4).contains(period) {
            known.periodMilliseconds += (period - known.periodMilliseconds) / 8
        }
        lastStart = run.start
        profile.compressor = known
        let isLike = within(30, [run.length, known.runMilliseconds]) && period <= 3 * known.periodMilliseconds
        judge(isLike: isLike || !run.isWhole, &profile)
    }

    /// Keeps a run on a plug without a known compressor. If enough kept runs are similar, reports them and stores the
    /// compressor in the profile.
    private mutating func gather(
        _ run: CompressorRun, at time: Int64, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        // A shorter span, such as a lamp that was on for a moment, is not a run and does not interrupt a series.
        guard run.length >= Self.runLengths.lowerBound else { return }
        guard run.isFlat, Self.levels.contains(run.level), run.length <= Self.runLengths.upperBound else {
            return pending.removeAll(keepingCapacity: true)
        }
        let cycle = run.cycle(.compressor, end: run.lastOn, said: time)
        pending.append(Pending(cycle: cycle, end: run.lastOn, level: run.level, isWhole: run.isWhole))
        if pending.count > Self.pendingLimit { pending.removeFirst() }
        let needed = profile.cycles == 0 ? Self.runsNeeded : Self.runsNeededAfterProgrammes
        guard let alike = newestPending(needed) else { return }
        let level = alike.levels.reduce(0, +) / Int64(needed)
        let length = alike.lengths.reduce(0, +) / Int64(needed)
        // If no two consecutive runs are whole, no rest was measured. The length of a run is then the best estimate.
        let rest = alike.rests.isEmpty ? length : alike.rests.reduce(0, +) / Int64(alike.rests.count)
        let known = ApplianceProfile.Compressor(
            runs: UInt16(needed), level: Int32(clamping: level), runMilliseconds: length,
            periodMilliseconds: length + rest)
        // Earlier similar runs are reported too: one that was longer because of a warm meal, or one with a gap.
        for var cycle in pending.filter({ fits($0.level, known.level) }).map(\.cycle) {
            cycle.said = time
            events.append(.finished(cycle))
        }
        profile.compressor = known
        lastStart = run.start
        pending.removeAll(keepingCapacity: true)
    }

    /// Returns the newest `count` fully observed runs and the rests between them. Nil if there are fewer, or if they
    /// are not similar in level, length and rest.
    private func newestPending(_ count: Int) -> (levels: [Int64], lengths: [Int64], rests: [Int64])? {
        let whole = pending.indices.filter { pending[$0].isWhole }.suffix(count)
        guard whole.count == count, let first = whole.first else { return nil }
        let levels = whole.map { pending[$0].level }
        let lengths = whole.map { pending[$0].length }
        let newest = pending[first...]
        let rests = zip(newest, newest.dropFirst()).filter { $0.isWhole && $1.isWhole }.map { $1.cycle.start - $0.end }
        let isAlike = within(16, lengths) && within(16, rests) && within(13, levels)
        return isAlike && rests.allSatisfy(Self.rests.contains) ? (levels, lengths, rests) : nil
    }

    /// Returns true if the largest value is at most this many tenths of the smallest.
    private func within(_ tenths: Int64, _ values: [Int64]) -> Bool {
        (values.max() ?? 0) * 10 <= (values.min() ?? 0) * tenths
    }
}

/// A span in which the appliance is on.
struct CompressorRun {
    /// Milliseconds in which a motor starts and reaches its level.
    static let settling: Int64 = 60_000

    let start: Int64
    private(set) var lastOn: Int64
    /// True if the start was observed and no gap interrupted the run.
    var isWhole: Bool
    var isSaid = false
    private var peak: Int32 = 0
    private var sums: (energy: Int64, covered: Int64) = (0, 0)
    private var settled: (energy: Int64, covered: Int64) = (0, 0)
    private var least: Int32 = .max
    private var greatest: Int32 = 0
    /// The last sample of a run may be an average of the run and the following rest. A sample therefore counts only
    /// after another sample of the run has followed.
    private var newest: Int32?

    init(at time: Int64, isWhole: Bool) {
        start = time
        lastOn = time
        self.isWhole = isWhole
    }

    mutating func add(_ step: PowerStep, isOn: Bool) {
        guard isOn else { return }
        // The steps into and out of the run do not belong to it. A gap may hide a rest.
        if step.elapsed > PowerStep.longest { isWhole = false }
        lastOn = step.time
        peak = max(peak, step.power)
        guard step.time > start else { return }
        sums.energy += step.energy
        sums.covered += step.covered
        guard step.time - start >= Self.settling else { return }
        settled.energy += step.energy
        settled.covered += step.covered
        if let newest {
            least = min(least, newest)
            greatest = max(greatest, newest)
        }
        newest = step.power
    }

    var length: Int64 { lastOn - start }
    var isSettled: Bool { settled.covered > 0 && lastOn - start > Self.settling }
    /// The mean power in tenths of a watt, without the first minute.
    var level: Int64 { settled.covered > 0 ? settled.energy / settled.covered : 0 }
    var isFlat: Bool { greatest > 0 && Int64(greatest) <= 2 * Int64(least) }

    func cycle(_ kind: ApplianceCycle.Kind, end: Int64?, said: Int64?) -> ApplianceCycle {
        ApplianceCycle(
            kind: kind, start: start, end: end, said: said, milliwattHours: PowerStep.milliwattHours(sums.energy),
            coveredMilliseconds: sums.covered, peakDeciwatts: peak, phases: [])
    }
}
