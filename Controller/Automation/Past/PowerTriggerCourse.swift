import ProtocolCore

/// How a trigger of power stood in a time that is over: why it could fire, or could not. Times are milliseconds since 1970.
public struct PowerTriggerCourse: Sendable {
    /// Power at a time.
    public struct Point: Hashable, Sendable {
        public var at: Int64
        /// Watts.
        public var watts: Double
    }

    private enum Bounds: Sendable {
        case threshold(PowerThreshold)
        case band(PowerBand)
    }

    private let bounds: Bounds
    /// What is told of greatest and least is within it.
    private let near: ClosedRange<Int64>
    /// Silence of so many milliseconds interrupts a dwell.
    public var gap: Int64
    /// And of so many the plug was away: it begins anew.
    public var away: Int64

    public private(set) var first: Int64?
    /// Since when it was ready to fire; nil while it was not.
    public private(set) var armedSince: Int64?
    /// When it was back after it had been away, and how long that was, in milliseconds.
    public private(set) var lastReturn: (at: Int64, after: Int64)?
    /// When it was last so far on the near side that it armed.
    public private(set) var lastArming: Point?
    /// Of the near time.
    public private(set) var greatest: Point?
    public private(set) var least: Point?
    /// The longest stay beyond the threshold, or in the band, that touches the near time.
    public private(set) var longestStay: (from: Int64, milliseconds: Int64)?
    private var stay: (from: Int64, last: Int64)?
    private var last: Int64?

    /// - Returns: nil for a trigger that is not about power.
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

    /// The next sample, in the order of time. Nothing is looked at after the near time.
    public mutating func take(_ milliseconds: Int64, watts: Double) {
        guard milliseconds <= near.upperBound, !watts.isNaN else { return }
        let point = Point(at: milliseconds, watts: watts)
        if first == nil { first = milliseconds }
        if near.contains(milliseconds) {
            if greatest.map({ $0.watts < watts }) ?? true { greatest = point }
            if least.map({ $0.watts > watts }) ?? true { least = point }
        }
        // What came before a hole says nothing of after it.
        if let last, milliseconds - last > gap { stay = nil }
        if let last, milliseconds - last > away {
            armedSince = nil
            lastReturn = (milliseconds, milliseconds - last)
        }
        last = milliseconds
        if isInside(watts) {
            // What fires, or would have, disarms it.
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

    /// `at or below 38 W`: what arms it.
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

    /// `more than 40 W for 3 s`: what fires it then.
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
