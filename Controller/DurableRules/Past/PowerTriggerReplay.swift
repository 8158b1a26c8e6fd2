import ProtocolCore
public import RuleModel

/// Replays a power trigger on past samples to explain why it could or could not fire near a time. Times are
/// milliseconds since 1970.
public struct PowerTriggerReplay: Sendable {
    /// The power at a time.
    public struct Point: Hashable, Sendable {
        /// The time.
        public var at: Int64
        /// The power in watts.
        public var watts: Double
    }

    private enum Bounds: Sendable {
        case threshold(PowerThreshold)
        case band(PowerBand)
    }

    private let bounds: Bounds
    /// The time range for which the greatest power, the least power and the longest stay are reported.
    private let near: ClosedRange<Int64>
    /// Milliseconds of silence that interrupt a dwell.
    public var gap: Int64
    /// Milliseconds of silence after which the plug counts as absent, so that the trigger must arm again.
    public var away: Int64

    /// The time of the first sample; nil without samples.
    public private(set) var first: Int64?
    /// The time since which the trigger was ready to fire; nil if it was not.
    public private(set) var armedSince: Int64?
    /// The last return of the plug after an absence, and the length of the absence in milliseconds; nil if the plug was
    /// never absent.
    public private(set) var lastReturn: (at: Int64, after: Int64)?
    /// The last sample with a power that arms the trigger, even if the trigger was already armed; nil without such a
    /// sample.
    public private(set) var lastArming: Point?
    /// The sample with the greatest power in the near range; nil without samples in that range.
    public private(set) var greatest: Point?
    /// The sample with the least power in the near range; nil without samples in that range.
    public private(set) var least: Point?
    /// The longest stay beyond the threshold, or in the band, that reaches into the near range, or nil.
    public private(set) var longestStay: (from: Int64, milliseconds: Int64)?
    private var stay: (from: Int64, last: Int64)?
    private var last: Int64?

    /// Creates a replay without samples. Returns nil for a trigger that is not on power.
    public init?(_ trigger: Trigger, near: ClosedRange<Int64>, gap: Int64, away: Int64) {
        switch trigger {
        case .activePower(_, let threshold): bounds = .threshold(threshold)
        case .activePowerStays(_, let band): bounds = .band(band)
        case .activeEnergy, .button, .relay, .lost, .back, .protection, .appliance, .schedule, .rule, .timer: return nil
        }
        self.near = near
        self.gap = gap
        self.away = away
    }

    /// Handles the next sample in chronological order. Samples after the near range are ignored.
    public mutating func add(_ milliseconds: Int64, watts: Double) {
        guard milliseconds <= near.upperBound, !watts.isNaN else { return }
        let point = Point(at: milliseconds, watts: watts)
        if first == nil { first = milliseconds }
        if near.contains(milliseconds) {
            if greatest.map({ $0.watts < watts }) ?? true { greatest = point }
            if least.map({ $0.watts > watts }) ?? true { least = point }
        }
        // A stay does not continue across a gap in the samples.
        if let last, milliseconds - last > gap { stay = nil }
        if let last, milliseconds - last > away {
            armedSince = nil
            lastReturn = (milliseconds, milliseconds - last)
        }
        last = milliseconds
        if isInside(watts) {
            // Before the near range, a stay that is at least as long as the dwell disarms the trigger.
            if stay == nil { stay = (milliseconds, milliseconds) }
            stay?.last = milliseconds
            if let stay { note(stay) }
            if let stay, stay.last - stay.from >= dwell, milliseconds < near.lowerBound { armedSince = nil }
        } else {
            stay = nil
            if isArmed(watts) {
                lastArming = point
                if armedSince == nil { armedSince = milliseconds }
            }
        }
    }

    private mutating func note(_ stay: (from: Int64, last: Int64)) {
        let length = stay.last - stay.from
        guard stay.last >= near.lowerBound, length >= longestStay?.milliseconds ?? 0 else { return }
        longestStay = (stay.from, length)
    }

    private var dwell: Int64 {
        switch bounds {
        case .threshold(let threshold): threshold.dwell.wholeNanoseconds / 1_000_000
        case .band(let band): band.dwell.wholeNanoseconds / 1_000_000
        }
    }

    private func isInside(_ watts: Double) -> Bool {
        switch bounds {
        case .threshold(let threshold): threshold.isCrossed(by: watts)
        case .band(let band): watts >= band.low && watts <= band.high
        }
    }

    private func isArmed(_ watts: Double) -> Bool {
        switch bounds {
        case .threshold(let threshold): threshold.isArmed(by: watts)
        case .band(let band): watts < band.armsBelow || watts > band.armsAbove
        }
    }

    /// The power that arms the trigger, for example `at or below 38 W`.
    public var armingWords: String {
        switch bounds {
        case .threshold(let threshold):
            switch threshold.direction {
            case .risesAbove: "at or below \((threshold.watts - threshold.hysteresis).decimal) W"
            case .fallsBelow: "at or above \((threshold.watts + threshold.hysteresis).decimal) W"
            }
        case .band(let band):
            "below \(band.armsBelow.decimal) W or above \(band.armsAbove.decimal) W"
        }
    }

    /// The power that fires the armed trigger, for example `more than 40 W for 3 s`.
    public var firingWords: String {
        let time = dwell > 0 ? " for \(Duration.milliseconds(dwell).words)" : ""
        switch bounds {
        case .threshold(let threshold):
            switch threshold.direction {
            case .risesAbove: return "more than \(threshold.watts.decimal) W" + time
            case .fallsBelow: return "less than \(threshold.watts.decimal) W" + time
            }
        case .band(let band): return "\(band.low.decimal) W to \(band.high.decimal) W" + time
        }
    }
}
