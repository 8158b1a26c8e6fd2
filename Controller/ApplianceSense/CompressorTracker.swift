/// Finds the runs of a compressor: a motor that starts again and again with the same load.
///
/// A run can be recognized only after others have followed. The first runs are therefore kept and reported together
/// with the run that identifies the compressor, usually the second one. After that each run is reported at its end.
struct CompressorTracker {
    /// Milliseconds. A compressor rests for minutes, so a quiet span of this length ends the run.
    static let quietAtEnd: Int64 = 60_000
    static let runLengths: ClosedRange<Int64> = 120_000...10_800_000
    /// Milliseconds. A compressor does not start after a shorter rest, until the pressure has fallen.
    static let shortestRest: Int64 = 180_000
    /// Milliseconds. After a longer rest the kept runs are dropped.
    static let longestRest: Int64 = 14_400_000
    /// Milliseconds. After a run with more power than a compressor's, such as the heating of a dishwasher, its pumps may
    /// run for this time.
    static let programme: Int64 = 3_600_000
    /// Tenths of a watt. A household compressor needs 40 to 400 W, and two together need more.
    static let levels: ClosedRange<Int64> = 300...5_000
    static let lowest: Int32 = 300
    /// Milliseconds. A longer gap may hide a whole rest of an unknown compressor, so it ends the run.
    static let longestHole: Int64 = 300_000
    /// The maximum number of kept runs.
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
    /// The time until which runs may be part of a programme.
    private var programmeEnd = Int64.min
    private var lastStart: Int64?
    private var misfits = 0

    private struct Pending {
        var cycle: ApplianceCycle
        var end: Int64
        var level: Int64
        var hasStart: Bool
        var hasClearStart: Bool

        var length: Int64 { end - cycle.start }
    }

    var running: ApplianceCycle? {
        isRunning && run.isSaid ? run.cycle(.compressor, end: nil, said: nil) : nil
    }

    mutating func handle(_ step: PowerStep, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]) {
        let onFrom = profile.compressor?.onFrom ?? Self.lowest
        let isOn = step.power >= onFrom
        if isRunning, step.elapsed > longestHole(profile) {
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
            compressor.fits(run.level)
        {
            run.isSaid = true
            events.append(.started(.compressor, start: run.start))
        }
    }

    /// Milliseconds. A longer gap ends a run. A known compressor with long rests permits longer gaps.
    private func longestHole(_ profile: ApplianceProfile) -> Int64 {
        guard let known = profile.compressor else { return Self.longestHole }
        return max(Self.longestHole, (known.periodMilliseconds - known.runMilliseconds) / 2)
    }

    private mutating func end(
        _ run: CompressorRun, at time: Int64, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        guard var known = profile.compressor else { return gather(run, at: time, &profile, &events) }
        guard run.isSettled else { return }
        if run.isSteady, isVariation(run.level, run.hasStart, of: known) {
            known.varies = true
            profile.compressor = known
        }
        if known.fits(run.level) {
            report(run.cycle(.compressor, end: run.lastOn, said: time), &events)
            learn(run, &profile)
        } else {
            if run.level > Int64(known.level), run.isSteady {
                report(run.cycle(.defrost, end: run.lastOn, said: time), &events)
            }
            judge(isLike: false, &profile)
        }
    }

    /// Reports the end of a run, which is probable and certain at the same time.
    private func report(_ cycle: ApplianceCycle, _ events: inout [ApplianceEvent]) {
        events += [.probablyFinished(cycle), .finished(cycle)]
    }

    private mutating func judge(isLike: Bool, _ profile: inout ApplianceProfile) {
        misfits = isLike ? max(0, misfits - 1) : misfits + 2
        if misfits >= Self.misfitLimit { (profile.compressor, misfits) = (nil, 0) }
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
        judge(isLike: run.isSteady, &profile)
    }

    /// Keeps a run on a plug without a known compressor. If enough kept runs are similar, reports them and stores the
    /// compressor in the profile.
    private mutating func gather(
        _ run: CompressorRun, at time: Int64, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        // A shorter span, such as a lamp that was on for a moment, is not a run and does not interrupt a series.
        guard run.length >= Self.runLengths.lowerBound else { return }
        if run.level > Self.levels.upperBound { programmeEnd = time + Self.programme }
        guard run.isSteady, Self.levels.contains(run.level), run.length <= Self.runLengths.upperBound,
            time >= programmeEnd
        else { return pending.removeAll(keepingCapacity: true) }
        let rest = pending.last.map { run.start - $0.end } ?? Self.shortestRest
        if rest > Self.longestRest { pending.removeAll() }
        let cycle = run.cycle(.compressor, end: run.lastOn, said: time)
        pending.append(
            Pending(
                cycle: cycle, end: run.lastOn, level: run.level,
                hasStart: run.hasStart && rest >= Self.shortestRest, hasClearStart: run.hasClearStart))
        if pending.count > Self.pendingLimit { pending.removeFirst() }
        guard let known = compressor(isAfterProgrammes: profile.cycles > 0) else { return }
        // Earlier similar runs are reported too.
        for var cycle in pending.filter({ known.fits($0.level) }).map(\.cycle) {
            cycle.said = time
            report(cycle, &events)
        }
        profile.compressor = known
        lastStart = run.start
        pending.removeAll(keepingCapacity: true)
    }

    /// Returns the compressor whose runs are kept, or nil if they may be those of another appliance. Two runs are
    /// sufficient if both have a compressor's start and similar levels and lengths; three if two have a start and
    /// similar levels, or if all have a start. One must have a clear start. Two compressors on the same plug
    /// have more than one level. A plug with earlier programmes needs six runs.
    private func compressor(isAfterProgrammes: Bool) -> ApplianceProfile.Compressor? {
        guard let newest = pending.last else { return nil }
        func runs(levels: Int64, lengths: Int64 = .max) -> [Pending] {
            pending.filter { within(levels, $0.level, newest.level) && within(lengths, $0.length, newest.length) }
        }
        let alike = runs(levels: 12)
        if isAfterProgrammes { return known(alike, least: 6, starts: 3) }
        return known(runs(levels: 11, lengths: 40), least: 2, starts: 2) ?? known(alike, least: 3, starts: 2)
            ?? known(runs(levels: 28), least: 3, starts: 3)
    }

    /// Returns the compressor with these runs, or nil if there are fewer than `least`, or if fewer than `starts` or
    /// half of the runs have a compressor's start, or if no start is clear.
    private func known(_ runs: [Pending], least: Int, starts: Int) -> ApplianceProfile.Compressor? {
        guard runs.count >= least, runs.contains(where: \.hasClearStart),
            runs.count(where: \.hasStart) >= max(starts, runs.count / 2)
        else { return nil }
        let count = Int64(runs.count)
        let levels = runs.map(\.level)
        let length = runs.map(\.length).reduce(0, +) / count
        let rests = zip(pending, pending.dropFirst()).map { $1.cycle.start - $0.end }
        let rest = rests.isEmpty ? length : rests.reduce(0, +) / Int64(rests.count)
        var compressor = ApplianceProfile.Compressor(
            runs: UInt16(clamping: runs.count), level: Int32(clamping: levels.reduce(0, +) / count),
            runMilliseconds: length, periodMilliseconds: length + rest)
        compressor.varies = pending.contains { isVariation($0.level, $0.hasStart, of: compressor) }
        return compressor
    }

    /// Returns true if a run is that of a compressor with a different level, because two share the plug.
    private func isVariation(_ level: Int64, _ hasStart: Bool, of known: ApplianceProfile.Compressor) -> Bool {
        hasStart && !known.fits(level) && within(28, level, Int64(known.level))
    }

    /// Returns true if the larger value is at most this many tenths of the smaller one.
    private func within(_ tenths: Int64, _ one: Int64, _ other: Int64) -> Bool {
        let (limit, overflow) = min(one, other).multipliedReportingOverflow(by: tenths)
        return overflow || max(one, other) <= limit / 10
    }
}
