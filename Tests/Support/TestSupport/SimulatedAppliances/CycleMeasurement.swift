import ApplianceSense

/// One row of a ``CycleTable``: the result of the detector and of naive rules for the samples of appliances.
public struct CycleMeasurement: Sendable {
    static let naiveSeconds: [Int64] = [60, 300]

    /// The name of the appliance.
    public private(set) var name: String
    /// The number of samples.
    public private(set) var samples: Int
    /// The score of the detector's "finished".
    public private(set) var sense: Score
    /// The score of the detector's "probably finished".
    public private(set) var probable: Score
    /// The scores of the naive rules, in the order of ``naiveSeconds``.
    public private(set) var naive: [Score]
    /// The processing time of the detector in nanoseconds.
    public private(set) var cost: Double

    /// Runs the detector and the naive rules on the samples, and scores their reports.
    ///
    /// - Parameters:
    ///   - truth: the true cycles in milliseconds; nil to find them by ``ReferenceAnalysis``.
    ///   - loads: the ends of loads within cycles.
    ///   - daysBefore: the number of passes over the same samples in which the detector learns before the scored pass.
    public init(
        _ name: String, _ points: [PowerScript.Point], truth: [ClosedRange<Int64>]? = nil, loads: [Int64] = [],
        daysBefore: Int = 0
    ) {
        self.name = name
        samples = points.count
        let truth = truth ?? ReferenceAnalysis.cycles(in: points)
        let holes = zip(points, points.dropFirst()).map { $0.milliseconds...$1.milliseconds }
            .filter { $0.upperBound - $0.lowerBound >= 30_000 }
        var sense = ApplianceSense()
        for _ in 0..<daysBefore {
            for point in points { _ = sense.handle(point) }
            sense = ApplianceSense(learned: sense.profile)
        }
        var said: [(at: Int64, end: Int64?)] = []
        var supposed: [(at: Int64, end: Int64?)] = []
        let clock = ContinuousClock()
        let taken = clock.measure {
            for point in points {
                for event in sense.handle(point) {
                    switch event {
                    case .finished(let cycle): said.append((at: point.milliseconds, end: cycle.end))
                    case .probablyFinished(let cycle): supposed.append((at: point.milliseconds, end: cycle.end))
                    case .started, .phase, .resumed: break
                    }
                }
            }
        }
        cost = taken / .nanoseconds(1)
        self.sense = Score(of: said, against: truth, holes: holes, loads: loads)
        probable = Score(of: supposed, against: truth, holes: holes, loads: loads)
        naive = Self.naiveSeconds.map { seconds in
            let firings = NaiveRule.firings(in: points, seconds: seconds)
            return Score(of: firings.map { (at: $0, end: nil) }, against: truth, holes: holes)
        }
    }

    /// Measures machines of a model, each from an empty profile.
    ///
    /// - Parameters:
    ///   - seeds: the machines.
    ///   - uses: the number of uses per machine.
    ///   - holesADay: the mean number of gaps per day. With gaps, the truth is what is visible in the samples.
    public init(_ model: ApplianceModel, seeds: ClosedRange<UInt64>, uses: Int, holesADay: Double = 0) {
        let rows = seeds.map { seed in
            let script = model.script(uses: uses, seed: seed, holesADay: holesADay)
            let isTorn = holesADay > 0 && !script.cycles.isEmpty
            let truth = isTorn && !model.isCompressor ? nil : script.cycles
            return CycleMeasurement(model.rawValue, script.points, truth: truth, loads: script.innerEnds)
        }
        self.init(model.rawValue, adding: rows)
    }

    /// Adds the results of several appliances, of which there is at least one.
    public init(_ name: String, adding rows: [CycleMeasurement]) {
        self = rows[0]
        self.name = name
        for row in rows.dropFirst() { add(row) }
    }

    private mutating func add(_ other: CycleMeasurement) {
        samples += other.samples
        cost += other.cost
        sense.add(other.sense)
        probable.add(other.probable)
        for index in naive.indices { naive[index].add(other.naive[index]) }
    }
}
