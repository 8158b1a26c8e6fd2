import Automation
import LocalCalendar
import Metering
import ProtocolCore

/// What was recorded of a plug in the time at hand: where that is little, a rule that did nothing says nothing.
public struct PlugCoverage: Hashable, Sendable {
    public var plug: String
    /// The first and the last sample, milliseconds since 1970; nil where there is none.
    public internal(set) var first: Int64?
    public internal(set) var last: Int64?
    /// Milliseconds between them in which it was away.
    public internal(set) var away: Int64 = 0
    /// Chunks that cannot be read.
    public internal(set) var damaged = 0
    /// So long without a sample is nothing to speak of, in milliseconds.
    var usual: Int64 = 0

    init(plug: String) { self.plug = plug }

    mutating func take(_ samples: [Sample], _ pace: SamplePace) {
        var before = last ?? samples.first?.milliseconds ?? 0
        for sample in samples {
            let silence = sample.milliseconds &- before
            if silence > pace.away { away += silence }
            before = sample.milliseconds
        }
        first = first ?? samples.first?.milliseconds
        last = samples.last?.milliseconds ?? last
        usual = max(usual, pace.away)
    }

    /// For a person; nil where all was recorded.
    func line(within span: ClosedRange<Int64>, _ zone: ZoneOffsets) -> String? {
        let unread = damaged == 0 ? "" : "; \(damaged) chunk\(damaged == 1 ? "" : "s") of it cannot be read"
        guard let first, let last else { return "nothing is recorded of \(plug) in this time" + unread }
        let isWhole = first - span.lowerBound <= usual && span.upperBound - last <= usual
        guard !isWhole || away > 0 || damaged > 0 else { return nil }
        let holes = away > 0 ? ", without \(TimeWords.span(away)) of it" : ""
        return "\(plug) is recorded from \(TimeWords.local(first, zone)) to \(TimeWords.local(last, zone))" + holes
            + unread
    }
}

/// How often a plug was measured, and so which silence says something. Milliseconds.
struct SamplePace: Hashable, Sendable {
    /// The usual distance of two.
    var usual: Int64 = 1000
    /// So long without a sample, and the plug was away: longer than a plug that starts anew needs.
    var away: Int64 = 120_000
    /// Longer silence than this interrupts a dwell: three of the usual distances, and at least what holds for plugs.
    private(set) var gap: Int64 = SamplePace.leastGap

    /// That of these samples alone. The first of them are as far from the last of those before as those were from each other.
    private var ownGap: Int64 = SamplePace.leastGap

    private static let leastGap = RuleEngine.readingGap.wholeNanoseconds / 1_000_000
    /// Neighbours from which the usual distance of samples is taken: so many at the beginning and at the end.
    private static let measured = 63

    init() {}

    /// - Parameter before: of the samples before them, which holds on where these are too few to tell.
    init(of samples: [Sample], before: SamplePace) {
        guard let first = Self.usual(samples.prefix(Self.measured + 1)),
            let last = Self.usual(samples.suffix(Self.measured + 1))
        else {
            self = before
            return
        }
        usual = max(first, last)
        away = max(away, 5 * usual)
        ownGap = max(ownGap, 3 * usual)
        gap = max(ownGap, before.ownGap)
    }

    private static func usual(_ samples: ArraySlice<Sample>) -> Int64? {
        let steps = zip(samples, samples.dropFirst()).map { $1.milliseconds - $0.milliseconds }.sorted()
        return steps.isEmpty ? nil : max(1, min(steps[steps.count / 2], 86_400_000))
    }
}
