/// Finds the cycles of the appliance on a plug in its samples.
///
/// The detector is a value without a clock: its events depend only on the samples so far and the initial profile.
/// Without a sample it reports nothing, because silence is a gap and not an idle appliance. It therefore has no
/// deadline. It needs about 4 kB and a bounded time per sample.
public struct ApplianceSense: Sendable {
    /// The profile learned so far. It changes at most 20 minutes after each ``ApplianceEvent/finished(_:)``. The caller
    /// should store it, and may replace it.
    public var profile: ApplianceProfile
    private var last: (milliseconds: Int64, deciwatts: Int32)?
    private var programme = ProgrammeTracker()
    private var compressor = CompressorTracker()

    /// Milliseconds. If a sample is older than the previous one by more than this, the clock was set or replaced, and
    /// the state except the profile is discarded.
    static let largestFall: Int64 = 60_000

    /// Creates a detector. Implausible values of the profile are dropped.
    public init(learned profile: ApplianceProfile = ApplianceProfile()) { self.profile = profile.plausible }

    /// Handles a sample. Returns the events that are certain from this sample on, usually none. A sample that is up to
    /// 60 s older than the previous one is ignored. An even older sample means that the clock was set, and discards the
    /// state except the profile.
    public mutating func handle(_ sample: (milliseconds: Int64, deciwatts: Int32)) -> [ApplianceEvent] {
        guard PowerStep.times.contains(sample.milliseconds) else { return [] }
        let power = min(max(0, sample.deciwatts), PowerStep.largest)
        let elapsed = last.map { sample.milliseconds - $0.milliseconds } ?? 0
        if elapsed < 0 {
            guard elapsed < -Self.largestFall else { return [] }
            self = ApplianceSense(learned: profile)
            return handle(sample)
        }
        let before = last?.deciwatts ?? power
        let energy = elapsed <= PowerStep.longest ? (Int64(before) + Int64(power)) * elapsed / 2 : 0
        last = (sample.milliseconds, power)
        let step = PowerStep(time: sample.milliseconds, power: power, elapsed: elapsed, energy: energy)
        var events: [ApplianceEvent] = []
        compressor.handle(step, &profile, &events)
        programme.handle(step, &profile, &events)
        return events
    }

    /// The running cycle, up to the last sample; nil if no running cycle is certain.
    public var running: ApplianceCycle? { programme.running ?? compressor.running }

    /// Returns all cycles in recorded samples, sorted by start. A cycle that is still running at the end of the samples
    /// has no end.
    public static func cycles(
        in samples: some Sequence<(milliseconds: Int64, deciwatts: Int32)>,
        learned profile: ApplianceProfile = ApplianceProfile()
    ) -> [ApplianceCycle] {
        var sense = ApplianceSense(learned: profile)
        var cycles: [ApplianceCycle] = []
        for sample in samples { sense.gather(sample, into: &cycles) }
        if let running = sense.running { cycles.append(running) }
        return cycles.sorted { $0.start < $1.start }
    }

    /// Handles a sample as ``handle(_:)`` does, and updates a list of finished cycles. A resumed cycle is in the list
    /// once, with its full length.
    public mutating func gather(
        _ sample: (milliseconds: Int64, deciwatts: Int32), into cycles: inout [ApplianceCycle]
    ) {
        for event in handle(sample) {
            switch event {
            case .finished(let cycle): cycles.append(cycle)
            case .resumed(let end, _): cycles.removeAll { $0.kind == .programme && $0.end == end }
            case .started, .phase, .probablyFinished: break
            }
        }
    }
}
