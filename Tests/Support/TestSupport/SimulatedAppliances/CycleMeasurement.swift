import ApplianceSense

/// One row of a ``CycleTable``: the result of the detector and of naive rules for the samples of one appliance.
public struct CycleMeasurement: Sendable {
    static let naiveSeconds: [Int64] = [0, 60, 300]

    /// The appliance's name.
    public let name: String
    /// The number of samples.
    public let samples: Int
    /// The score of `ApplianceSense`.
    public let sense: Score
    /// The scores of the naive rules, in the order of ``naiveSeconds``.
    public let naive: [Score]
    /// The processing time per sample in nanoseconds.
    public let cost: Double

    /// Runs the detector and the naive rules on the samples, and scores their reports.
    ///
    /// - Parameters:
    ///   - truth: the true cycles in milliseconds; nil to find them by ``ReferenceAnalysis``.
    ///   - daysBefore: the number of passes over the same samples in which the detector learns before the scored pass.
    public init(
        _ name: String, _ points: [PowerScript.Point], truth: [ClosedRange<Int64>]? = nil, daysBefore: Int = 0
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
        let clock = ContinuousClock()
        let taken = clock.measure {
            for point in points {
                for case .finished(let cycle) in sense.handle(point) {
                    said.append((at: point.milliseconds, end: cycle.end))
                }
            }
        }
        cost = taken / .nanoseconds(1) / Double(max(1, points.count))
        self.sense = Score(of: said, against: truth, holes: holes)
        naive = Self.naiveSeconds.map { seconds in
            let firings = NaiveRule.firings(in: points, seconds: seconds)
            return Score(of: firings.map { (at: $0, end: nil) }, against: truth, holes: holes)
        }
    }
}
