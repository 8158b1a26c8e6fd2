/// Finds programmes. A programme is activity of at least 10 W that lasts at least 20 minutes, has pauses of at most 20
/// minutes, and has at least 300 W for 10 s in total, or at all if a drum turns.
struct ProgrammeTracker {
    static let shortest: Int64 = 1_200_000
    /// The power in tenths of a watt that a programme must reach, and the total time in milliseconds for which it must
    /// have at least this power. The start of a motor is shorter than this time.
    static let strongFrom: Int32 = 3_000
    static let strongFor: Int64 = 10_000
    /// Of this number of milliseconds, an appliance must have that power for more than one.
    static let strongShare: Int64 = 150
    /// These two limits replace the two above on a plug with a known compressor. There only a much stronger appliance
    /// counts, such as a machine that replaced the refrigerator.
    static let strongFromBesideCompressor: Int32 = 8_000
    static let strongForBesideCompressor: Int64 = 60_000
    /// Milliseconds. The power of a pause of at least this length shows the level at which the appliance rests.
    static let tellingPause: Int64 = 10_000

    private enum Stage {
        /// Quiet for longer than a pause.
        case idle
        /// Active, but not long or strong enough yet. A kettle never gets beyond this stage.
        case candidate
        case running
        /// Reported as finished, but it may still resume.
        case finished
    }

    private var stage = Stage.idle
    /// The activity of the present cycle. Stored next to the stage, so that each sample changes it in place. Not valid
    /// in stage `idle`.
    private var activity = Activity(at: 0)
    private var quiet = Quiet()
    /// True if the present rest was reported as probably the end.
    private var isProbable = false

    var running: ApplianceCycle? { stage == .running ? activity.cycle(end: nil, said: nil) : nil }

    mutating func handle(_ step: PowerStep, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]) {
        let isActive = step.power >= profile.activeFrom
        if stage != .idle, step.time - activity.lastActive > PauseJudgement.longestPause {
            if stage == .running { report(.certain, at: step.time, &events) }
            if stage != .candidate { activity.teach(&profile, after: quiet) }
            stage = .idle
            // The time in between may be a gap, which does not show the power between cycles.
            if isActive { quiet = Quiet() }
        }
        if isActive {
            if stage == .idle { begin(step, &profile) }
            activity.resume(after: quiet, at: step.time, wasSaid: stage == .finished, profile, &events)
            if stage == .finished { stage = .running }
            (quiet, isProbable) = (Quiet(), false)
        } else {
            quiet.add(step)
        }
        if stage != .idle { go(on: step, isActive: isActive, profile, &events) }
    }

    private mutating func begin(_ step: PowerStep, _ profile: inout ApplianceProfile) {
        // The quiet span before a cycle shows the power between cycles, if it was long enough.
        if quiet.covered >= 60_000 { profile.learn(standby: Int32(clamping: quiet.level)) }
        quiet = Quiet()
        activity = Activity(at: step.time)
        stage = .candidate
    }

    private mutating func go(
        on step: PowerStep, isActive: Bool, _ profile: ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        let phase = activity.add(step, isActive: isActive)
        if !isActive, stage != .candidate { activity.observe(quiet, step, profile) }
        switch stage {
        case .idle, .finished: break
        case .candidate:
            guard isActive, activity.isProgramme(on: profile) else { break }
            stage = .running
            events.append(.started(.programme, start: activity.start))
            if let phase = activity.phases.current { events.append(.phase(phase.name, start: phase.start)) }
        case .running:
            if let phase { events.append(.phase(phase.name, start: phase.start)) }
            guard !isActive, let certainty = activity.certainty(after: quiet, profile) else { break }
            report(certainty, at: step.time, &events)
        }
    }

    private mutating func report(
        _ certainty: PauseJudgement.Certainty, at time: Int64, _ events: inout [ApplianceEvent]
    ) {
        let cycle = activity.cycle(end: activity.lastActive, said: time)
        if !isProbable { events.append(.probablyFinished(cycle)) }
        isProbable = true
        guard certainty == .certain else { return }
        stage = .finished
        events.append(.finished(cycle))
    }
}
