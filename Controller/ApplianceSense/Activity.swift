/// A span below the power at which the appliance counts as active.
struct Quiet {
    /// The length since the last activity, in milliseconds. A gap counts as at most 30 s.
    var credited: Int64 = 0
    var covered: Int64 = 0
    private var energy: Int64 = 0

    /// The mean power in tenths of a watt.
    var level: Int64 { covered > 0 ? energy / covered : 0 }
    /// The mean power of the first minute, in tenths of a watt. A machine that displays its end for some time turns off
    /// later.
    var firstLevel: Int64 { first ?? level }
    private var first: Int64?

    mutating func add(_ step: PowerStep) {
        credited += step.credited
        // Halves the sums of an idle appliance, which would overflow after years. The mean of the last hours is
        // sufficient.
        if covered > 20_000_000 { (covered, energy) = (covered / 2, energy / 2) }
        // The step down to the first quiet sample belongs to the end of the activity, not to the quiet level.
        guard credited > step.credited else { return }
        covered += step.covered
        energy += step.energy
        if first == nil, covered >= 55_000 { first = level }
    }
}

/// Detects from the power of a quiet span if the appliance is off. It uses means of 20 s, because a meter's last digit
/// fluctuates.
struct OffTime {
    static let blockLength: Int64 = 20_000

    /// How long the appliance has been off until now, in milliseconds.
    private(set) var off: Int64 = 0
    /// The lowest mean so far, in tenths of a watt; nil before the first 20 s are complete.
    private(set) var lowest: Int32?
    private var energy: Int64 = 0
    private var covered: Int64 = 0

    mutating func add(_ step: PowerStep, offLevel: Int32?) {
        energy += step.energy
        covered += step.covered
        guard covered >= Self.blockLength else { return }
        let level = Int32(clamping: energy / covered)
        lowest = min(lowest ?? level, level)
        off = level <= offLevel ?? -1 ? off + covered : 0
        (energy, covered) = (0, 0)
    }
}

/// The energy in tenths of a watt times milliseconds, and the measured time in milliseconds.
typealias EnergySums = (energy: Int64, covered: Int64)

/// Activity without a long pause.
struct Burst {
    let start: Int64
    /// The sums of the cycle one to two minutes ago, and up to one minute ago.
    private var marks: (older: EnergySums, newer: EnergySums)

    init(start: Int64, sums: EnergySums) {
        self.start = start
        marks = (sums, sums)
    }

    mutating func add(_ sums: EnergySums) {
        if sums.covered - marks.newer.covered >= 60_000 { marks = (marks.newer, sums) }
    }

    /// The mean power in the last one to two minutes, in tenths of a watt.
    func power(_ sums: EnergySums) -> Int64 {
        (sums.energy - marks.older.energy) / max(1, sums.covered - marks.older.covered)
    }
}

/// Activity with pauses of at most 20 minutes: a cycle, or a candidate for one.
struct Activity {
    /// The number of pauses after which the appliance has a drum. A dishwasher pauses less often.
    private static let turnsOfDrum = 30

    let start: Int64
    private(set) var lastActive: Int64
    private(set) var phases: PhaseTracker
    private var peak: Int32 = 0
    private var strong: Int64 = 0
    private var strongBesideCompressor: Int64 = 0
    /// The energy and the measured time up to the last sample, and up to the last active sample.
    private var sums: EnergySums = (0, 0)
    private var sumsWhenActive: EnergySums = (0, 0)
    private var pauses = Pauses()
    private var judgement: PauseJudgement?
    private var offTime = OffTime()
    /// The pause after which the present load started; nil in the first load. A second load follows a pause that
    /// began like the end of a learned programme.
    private var separator: ProgrammeRest?
    private var burst: Burst
    /// The number of pauses of any length.
    private var turns = 0

    init(at time: Int64) {
        start = time
        lastActive = time
        phases = PhaseTracker(start: time)
        burst = Burst(start: time, sums: sums)
    }

    /// Ends a pause. The caller calls this function before it adds the first active sample after the pause.
    mutating func resume(
        after quiet: Quiet, at time: Int64, wasSaid: Bool, _ profile: ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        judgement = nil
        offTime = OffTime()
        guard quiet.credited > 0 else { return }
        if wasSaid { events.append(.resumed(end: lastActive, at: time)) }
        turns += 1
        pauses.add(quiet)
        let length = time - lastActive
        guard length >= ProgrammeRest.shortestPause else { return }
        var pause = rest(quiet)
        let isEnd = length >= Loads.shortestRest && profile.hasEnd(like: pause.since(separator))
        // Rounds a pause up to a whole second, so that a limit derived from it is never too short.
        pause.seconds = UInt16(clamping: (length + 999) / 1000)
        pauses.add(pause)
        if isEnd { separator = pause }
        burst = Burst(start: time, sums: sums)
    }

    /// Describes the rest after the last activity, as the end of the cycle.
    private func rest(_ quiet: Quiet) -> ProgrammeRest {
        ProgrammeRest(
            seconds: 0, elapsed: UInt16(clamping: (lastActive - start) / 1000),
            wattHours: UInt16(clamping: PowerStep.milliwattHours(sumsWhenActive.energy) / 1000),
            burst: UInt16(clamping: (lastActive - burst.start) / 1000),
            power: UInt16(clamping: burst.power(sumsWhenActive) / 10),
            level: quiet.covered >= ProgrammeTracker.tellingPause
                ? UInt16(clamping: quiet.firstLevel) : ProgrammeRest.unknownLevel)
    }

    /// Adds a sample. Returns a phase if this sample completes the evidence for it; usually nil.
    mutating func add(_ step: PowerStep, isActive: Bool) -> AppliancePhase? {
        // The step that leads to the first sample does not belong to the activity.
        if step.time > start {
            sums.energy += step.energy
            sums.covered += step.covered
        }
        if isActive {
            peak = max(peak, step.power)
            if step.power >= ProgrammeTracker.strongFrom { strong += step.covered }
            if step.power >= ProgrammeTracker.strongFromBesideCompressor { strongBesideCompressor += step.covered }
            lastActive = step.time
            sumsWhenActive = sums
            burst.add(sums)
        }
        // The starts of compressors, of a second or two each, do not add up.
        strong = max(0, strong - step.elapsed / ProgrammeTracker.strongShare)
        return phases.add(step, isActive: isActive)
    }

    func isProgramme(on profile: ApplianceProfile) -> Bool {
        guard lastActive - start >= ProgrammeTracker.shortest else { return false }
        guard profile.compressor == nil else {
            return strongBesideCompressor >= ProgrammeTracker.strongForBesideCompressor
        }
        // A washing machine that does not heat may have this power only for a moment, while it spins.
        return strong >= ProgrammeTracker.strongFor
            || turns >= Self.turnsOfDrum && peak >= ProgrammeTracker.strongFrom
    }

    /// Handles a quiet sample, also after the end was reported: the power after the end is learned.
    mutating func observe(_ quiet: Quiet, _ step: PowerStep, _ profile: ApplianceProfile) {
        if judgement == nil {
            judgement = PauseJudgement(
                profile, longestHere: pauses.longest, levelHere: pauses.level, outlook: outlook(rest(quiet)))
        }
        // The step down is not part of the quiet level, as in ``Quiet``.
        if quiet.covered > 0 { offTime.add(step, offLevel: judgement?.offLevel) }
    }

    /// Returns how certain it is after the last quiet sample that the cycle is over, or nil if it is not.
    func certainty(after quiet: Quiet, _ profile: ApplianceProfile) -> PauseJudgement.Certainty? {
        guard quiet.credited >= PauseJudgement.shortestDelay, let judgement else { return nil }
        return judgement.certainty(
            rest(quiet).since(separator), quiet: quiet.credited, off: offTime.off, learned: profile.rests,
            here: pauses.since(separator))
    }

    private func outlook(_ rest: ProgrammeRest) -> PauseJudgement.Outlook {
        if turns >= Self.turnsOfDrum { return phases.isWound ? .ending : .soaking }
        let isPumped = rest.burst < 180 && rest.power < 150 && pauses.longest >= Loads.shortestRest
        return isPumped ? .ending : .open
    }

    /// Adds what this cycle shows about the appliance to the profile. Called when the cycle can no longer resume.
    func teach(_ profile: inout ApplianceProfile, after quiet: Quiet) {
        // A programme on a compressor's plug means that the appliance was replaced.
        if profile.compressor != nil { profile = ApplianceProfile() }
        for rests in Loads.separate(pauses.rests, rest(quiet), profile) { profile.learn(rests) }
        profile.learn(pauses: pauses.level, end: offTime.lowest, peak: peak)
    }

    func cycle(end: Int64?, said: Int64?) -> ApplianceCycle {
        ApplianceCycle(
            kind: .programme, start: start, end: end, said: said,
            milliwattHours: PowerStep.milliwattHours(sumsWhenActive.energy),
            coveredMilliseconds: sumsWhenActive.covered, peakDeciwatts: peak, phases: phases.all(until: lastActive))
    }
}
