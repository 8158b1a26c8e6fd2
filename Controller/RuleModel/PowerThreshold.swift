/// A threshold of active power with the direction in which it is crossed.
///
/// "Above" and "below" are strict: 40 W is not above 40 W. After a firing the trigger is disarmed until the power has
/// returned past the threshold by the hysteresis. Power that fluctuates around the threshold therefore fires the rule
/// only once.
public struct PowerThreshold: Hashable, Sendable {
    /// The direction of the crossing that fires.
    public enum Direction: Hashable, Sendable, CaseIterable {
        case risesAbove, fallsBelow
    }

    /// The direction of the crossing that fires.
    public var direction: Direction
    /// Watts; negative for a load that feeds power back.
    public var watts: Double
    /// How long the power must stay beyond the threshold before the rule fires. Zero fires at the crossing.
    public var dwell: Duration
    /// Watts by which the power must return past the threshold to arm the trigger again; never negative.
    public var hysteresis: Double

    /// Creates a threshold. A nil `hysteresis` means ``defaultHysteresis(for:)``.
    public init(_ direction: Direction, watts: Double, dwell: Duration = .zero, hysteresis: Double? = nil) {
        self.direction = direction
        self.watts = watts
        self.dwell = dwell
        self.hysteresis = hysteresis ?? Self.defaultHysteresis(for: watts)
    }

    /// Returns 5 % of the threshold, at least 0.5 W (the noise of a small meter) and at most half of the threshold. A
    /// threshold of 0.4 W can therefore still arm at 0.2 W.
    public static func defaultHysteresis(for watts: Double) -> Double {
        min(max(watts.magnitude * 0.05, 0.5), watts.magnitude / 2)
    }

    /// Returns true if the power is beyond the threshold.
    public func isCrossed(by activePower: Double) -> Bool {
        switch direction {
        case .risesAbove: activePower > watts
        case .fallsBelow: activePower < watts
        }
    }

    /// Returns true if the power has returned past the threshold by at least the hysteresis, which arms the trigger.
    public func isArmed(by activePower: Double) -> Bool {
        switch direction {
        case .risesAbove: activePower <= watts - hysteresis
        case .fallsBelow: activePower >= watts + hysteresis
        }
    }
}
