import ApplianceSense

/// One row: what an appliance did, and what was said of it.
public struct Measurement: Sendable {
    static let naiveSeconds: [Int64] = [0, 60, 300]

    public let name: String
    public let samples: Int
    public let sense: Score
    public let naive: [Score]
    /// Nanoseconds a sample.
    public let cost: Double

    /// - Parameters:
    ///   - truth: nil to find it in the samples.
    ///   - daysBefore: how often the detector has seen the same day before; only the last counts.
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
