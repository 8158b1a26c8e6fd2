/// Finds the cycles of the appliance on a plug in what the plug measures, sample by sample.
///
/// It is a value that knows no clock: what it says at a sample rests on the samples up to it and on the profile it began
/// with. It says nothing without a sample, since silence is a hole, not an appliance at rest; so there is no deadline to wait
/// for. It takes some 2 kB and a bounded time a sample, whatever the samples are.
public struct ApplianceSense: Sendable {
    /// What it has learned so far; worth storing after each ``ApplianceEvent/finished(_:)``.
    public private(set) var profile: ApplianceProfile
    private var last: (milliseconds: Int64, deciwatts: Int32)?
    private var programme = ProgrammeTracker()
    private var compressor = CompressorTracker()

    /// A clock that falls by more was set, or is another one: what was going on is forgotten.
    static let largestFall: Int64 = 60_000

    public init(learned profile: ApplianceProfile = ApplianceProfile()) { self.profile = profile.plausible }

    /// What a sample makes certain, mostly nothing. A sample that is older than the one before is left out.
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

    /// The cycle that is certain and not finished, as far as it has come.
    public var running: ApplianceCycle? { programme.running ?? compressor.running }

    /// All cycles in recorded samples, in the order of their start; one that the samples end in comes last, without an end.
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

    /// As ``handle(_:)``, keeping a list of the finished cycles: one that went on is there once, as a whole.
    public mutating func gather(
        _ sample: (milliseconds: Int64, deciwatts: Int32), into cycles: inout [ApplianceCycle]
    ) {
        for event in handle(sample) {
            switch event {
            case .finished(let cycle): cycles.append(cycle)
            case .resumed(let end, _): cycles.removeAll { $0.kind == .programme && $0.end == end }
            case .started, .phase: break
            }
        }
    }
}
