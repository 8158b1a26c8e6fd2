/// A span below the power at which the appliance counts as active.
struct Quiet {
    /// The length since the last activity, in milliseconds. A gap counts as at most 30 s.
    var credited: Int64 = 0
    var covered: Int64 = 0
    private var energy: Int64 = 0

    /// The mean power in tenths of a watt.
    var level: Int64 { covered > 0 ? energy / covered : 0 }

    mutating func add(_ step: PowerStep) {
        credited += step.credited
        // Halves the sums of an idle appliance, which would overflow after years. The mean of the last hours is
        // sufficient.
        if covered > 20_000_000 { (covered, energy) = (covered / 2, energy / 2) }
        // The step down to the first quiet sample belongs to the end of the activity, not to the quiet level.
        guard credited > step.credited else { return }
        covered += step.covered
        energy += step.energy
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

/// Activity with pauses of at most 20 minutes: a cycle, or a candidate for one.
struct Activity {
    let start: Int64
    private(set) var lastActive: Int64
    private(set) var phases: PhaseTracker
    private var peak: Int32 = 0
    private var strong: Int64 = 0
    private var strongBesideCompressor: Int64 = 0
    /// The energy and the measured time up to the last sample, and up to the last active sample.
    private var sums: (energy: Int64, covered: Int64) = (0, 0)
    private var sumsWhenActive: (energy: Int64, covered: Int64) = (0, 0)
    private var longestPause: Int64 = 0
    /// The number of pauses that were long enough to measure a level, and the lowest level.
    private var pauses = 0
    private var pauseLevel: Int32 = .max
    private var judgement: PauseJudgement?
    private var offTime = OffTime()

    init(at time: Int64) {
        start = time
        lastActive = time
        phases = PhaseTracker(start: time)
    }

    /// Ends a pause. The caller calls this function before it adds the first active sample after the pause.
    mutating func resume(after quiet: Quiet, at time: Int64, wasSaid: Bool, _ events: inout [ApplianceEvent]) {
        judgement = nil
        offTime = OffTime()
        guard quiet.credited > 0 else { return }
        if wasSaid { events.append(.resumed(end: lastActive, at: time)) }
        longestPause = max(longestPause, time - lastActive)
        guard quiet.covered >= ProgrammeTracker.tellingPause else { return }
        pauses += 1
        pauseLevel = min(pauseLevel, Int32(clamping: quiet.level))
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
            if step.power >= ProgrammeTracker.strongFrom { strong += step.credited }
            if step.power >= ProgrammeTracker.strongFromBesideCompressor { strongBesideCompressor += step.credited }
            lastActive = step.time
            sumsWhenActive = sums
        }
        return phases.add(step, isActive: isActive)
    }

    func isProgramme(on profile: ApplianceProfile) -> Bool {
        guard lastActive - start >= ProgrammeTracker.shortest else { return false }
        return profile.compressor == nil
            ? strong >= ProgrammeTracker.strongFor
            : strongBesideCompressor >= ProgrammeTracker.strongForBesideCompressor
    }

    /// Returns true if a new quiet sample shows that the cycle is over.
    mutating func isOver(after quiet: Quiet, _ step: PowerStep, _ profile: ApplianceProfile) -> Bool {
        let judgement =
            judgement
            ?? PauseJudgement(profile, longestHere: longestPause, levelHere: pauses >= 5 ? pauseLevel : nil)
        self.judgement = judgement
        // The step down is not part of the quiet level, as in ``Quiet``.
        if quiet.covered > 0 { offTime.add(step, offLevel: judgement.offLevel) }
        return judgement.isEnd(quiet: quiet.credited, off: offTime.off)
    }

    /// Adds what this cycle shows about the appliance to the profile. Called when the cycle can no longer resume.
    func teach(_ profile: inout ApplianceProfile) {
        // A programme on a compressor's plug means that the appliance was replaced.
        if profile.compressor != nil { profile = ApplianceProfile() }
        profile.learn(longestPause: longestPause, level: pauses > 0 ? pauseLevel : nil, end: offTime.lowest, peak: peak)
    }

    func cycle(end: Int64?, said: Int64?) -> ApplianceCycle {
        ApplianceCycle(
            kind: .programme, start: start, end: end, said: said,
            milliwattHours: PowerStep.milliwattHours(sumsWhenActive.energy),
            coveredMilliseconds: sumsWhenActive.covered, peakDeciwatts: peak, phases: phases.all(until: lastActive))
    }
}
