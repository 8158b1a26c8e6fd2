/// Finds programmes: activity of at least 10 W with pauses of at most 20 minutes, at least 20 minutes long, that reaches 300 W.
struct ProgrammeTracker {
    static let shortest: Int64 = 1_200_000
    /// How high it must rise, in tenths of a watt, and for how long together: a motor's start alone is no programme.
    static let strongFrom: Int32 = 3_000
    static let strongFor: Int64 = 10_000
    /// On the plug of a compressor only what is far stronger counts, such as a machine that was put in its place.
    static let strongFromBesideCompressor: Int32 = 8_000
    static let strongForBesideCompressor: Int64 = 60_000
    /// Pauses from this length on tell the level at which the appliance rests.
    static let tellingPause: Int64 = 10_000

    private enum Stage {
        /// No activity for longer than a pause.
        case idle
        /// Active, but not for long or strongly enough yet: a kettle stays one.
        case candidate
        case running
        /// Said to be finished, while what comes may still be a part of it.
        case finished
    }

    private var stage = Stage.idle
    /// Of the cycle at hand; beside the stage, so that it is changed in place with every sample. Old in stage `idle`.
    private var activity = Activity(at: 0)
    private var quiet = Quiet()

    var running: ApplianceCycle? { stage == .running ? activity.cycle(end: nil, said: nil) : nil }

    mutating func handle(_ step: PowerStep, _ profile: inout ApplianceProfile, _ events: inout [ApplianceEvent]) {
        let isActive = step.power >= profile.activeFrom
        if stage != .idle, step.time - activity.lastActive > PauseJudgement.longestPause {
            if stage == .running {
                events.append(.finished(activity.cycle(end: activity.lastActive, said: step.time)))
            }
            if stage != .candidate { activity.teach(&profile) }
            stage = .idle
            // What lies between may be a hole, which teaches nothing about the level between cycles.
            if isActive { quiet = Quiet() }
        }
        if isActive {
            if stage == .idle { begin(step, &profile) }
            activity.resume(after: quiet, at: step.time, wasSaid: stage == .finished, &events)
            if stage == .finished { stage = .running }
            quiet = Quiet()
        } else {
            quiet.add(step)
        }
        if stage != .idle { go(on: step, isActive: isActive, profile, &events) }
    }

    private mutating func begin(_ step: PowerStep, _ profile: inout ApplianceProfile) {
        // What the appliance draws between cycles is known from the quiet before one, if there was enough of it.
        if quiet.covered >= 60_000 { profile.learn(standby: Int32(clamping: quiet.level)) }
        quiet = Quiet()
        activity = Activity(at: step.time)
        stage = .candidate
    }

    private mutating func go(
        on step: PowerStep, isActive: Bool, _ profile: ApplianceProfile, _ events: inout [ApplianceEvent]
    ) {
        let phase = activity.add(step, isActive: isActive)
        switch stage {
        case .idle: break
        // Its level after the end is still to be learned.
        case .finished: if !isActive { _ = activity.isOver(after: quiet, step, profile) }
        case .candidate:
            guard isActive, activity.isProgramme(on: profile) else { break }
            stage = .running
            events.append(.started(.programme, start: activity.start))
            if let phase = activity.phases.current { events.append(.phase(phase.name, start: phase.start)) }
        case .running:
            if let phase { events.append(.phase(phase.name, start: phase.start)) }
            guard !isActive, activity.isOver(after: quiet, step, profile) else { break }
            stage = .finished
            events.append(.finished(activity.cycle(end: activity.lastActive, said: step.time)))
        }
    }
}
