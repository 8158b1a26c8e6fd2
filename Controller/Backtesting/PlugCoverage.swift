import Automation
import HouseCalendar
import Metering
import ProtocolCore

/// The recorded part of a span for one plug. If it is short, the rules may have fired in the time without samples,
/// although the report lists no firings.
public struct PlugCoverage: Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The time of the first sample, in milliseconds since 1970; nil without samples.
    public internal(set) var first: Int64?
    /// The time of the last sample, in milliseconds since 1970; nil without samples.
    public internal(set) var last: Int64?
    /// Milliseconds between the first and the last sample in which the plug was absent.
    public internal(set) var away: Int64 = 0
    /// The number of unreadable chunks.
    public internal(set) var damaged = 0
    /// The longest time without samples at the start or end of the span that still counts as recorded, in milliseconds.
    var usual: Int64 = 0

    init(plug: String) { self.plug = plug }

    mutating func add(_ samples: ArraySlice<Sample>, _ pace: SamplePace) {
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

    /// Returns a line for the user; nil if the plug is recorded completely.
    func line(within span: ClosedRange<Int64>, _ zone: ZoneOffsets) -> String? {
        let unread = damaged == 0 ? "" : "; \(damaged) chunk\(damaged == 1 ? "" : "s") cannot be read"
        guard let first, let last else { return "\(plug) has no recorded samples in this span" + unread }
        let isWhole = first - span.lowerBound <= usual && span.upperBound - last <= usual
        guard !isWhole || away > 0 || damaged > 0 else { return nil }
        let holes = away > 0 ? ", with gaps of \(TimeFormat.span(away))" : ""
        return "\(plug) is recorded from \(TimeFormat.local(first, zone)) to \(TimeFormat.local(last, zone))" + holes
            + unread
    }
}

/// The pace at which a plug was sampled, and the limits of gaps that follow from it. In milliseconds.
struct SamplePace: Hashable, Sendable {
    /// The usual time between two samples.
    let usual: Int64

    init(usual: Int64 = 1000) { self.usual = max(1, min(usual, 86_400_000)) }

    /// The time without samples after which the plug counts as absent. It is longer than a restart of a plug.
    var away: Int64 { max(120_000, 5 * usual) }
    /// The silence that interrupts a dwell: three times the usual distance, and at least the limit that applies to real
    /// plugs.
    var gap: Int64 { max(Self.leastGap, 3 * usual) }

    private static let leastGap = RuleEngine.readingGap.wholeNanoseconds / 1_000_000
}
