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

    mutating func take(_ samples: ArraySlice<Sample>, _ pace: SamplePace) {
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
    /// The usual distance of two samples.
    let usual: Int64

    init(usual: Int64 = 1000) { self.usual = max(1, min(usual, 86_400_000)) }

    /// So long without a sample, and the plug was away: longer than a plug that starts again needs.
    var away: Int64 { max(120_000, 5 * usual) }
    /// Longer silence than this interrupts a dwell: three of the usual distances, and at least what holds for plugs.
    var gap: Int64 { max(Self.leastGap, 3 * usual) }

    private static let leastGap = RuleEngine.readingGap.wholeNanoseconds / 1_000_000
}
