public import ApplianceSense
public import PlugModel

/// An edge: something that happens once. Plugs are named as a person writes them (``RuleEngine`` says how they are found).
public enum Trigger: Hashable, Sendable {
    case activePower(plug: String, PowerThreshold)
    /// It came into the band from outside and stayed.
    case activePowerStays(plug: String, PowerBand)
    case activeEnergy(plug: String, EnergyThreshold)
    case button(plug: String, ButtonPress)
    /// The relay was switched, by whomever; nil: either way.
    case relay(plug: String, on: Bool?)
    /// Not connected for so long; a plug that nobody has seen yet since the first start is not lost.
    case lost(plug: String, dwell: Duration)
    /// Connected again for so long, after it was lost.
    case back(plug: String, dwell: Duration)
    /// Nil: whichever.
    case protection(plug: String, Protection?)
    case appliance(plug: String, ApplianceTrigger)
    case schedule(Schedule)
    /// Another rule fired.
    case rule(String)
    /// A timer that a script started has run out.
    case timer(ScriptTimer)

    /// Nil where it is about none.
    public var plug: String? {
        switch self {
        case .activePower(let plug, _), .activePowerStays(let plug, _), .activeEnergy(let plug, _),
            .button(let plug, _), .relay(let plug, _), .lost(let plug, _), .back(let plug, _),
            .protection(let plug, _), .appliance(let plug, _):
            plug
        case .schedule, .rule, .timer: nil
        }
    }
}

/// Active power between two levels, both included, for so long. After a firing, or at the start, the power has to leave the band
/// by the hysteresis of that end before it can come in again.
public struct PowerBand: Hashable, Sendable {
    /// Watts.
    public var low: Double
    public var high: Double
    public var dwell: Duration
    /// Watts; never negative. Nil: of each end what ``PowerThreshold/defaultHysteresis(for:)`` has for it, so that a wide band can be
    /// left at its lower end too.
    public var hysteresis: Double?

    public init(_ low: Double, _ high: Double, dwell: Duration = .zero, hysteresis: Double? = nil) {
        self.low = low
        self.high = high
        self.dwell = dwell
        self.hysteresis = hysteresis
    }

    /// Watts; power below this has left the band.
    public var armsBelow: Double { low - (hysteresis ?? PowerThreshold.defaultHysteresis(for: low)) }
    /// Watts; power above this has left the band.
    public var armsAbove: Double { high + (hysteresis ?? PowerThreshold.defaultHysteresis(for: high)) }
}

/// Active energy, Wh by the plug's counter, that a period has when it exceeds this. Once a period.
public struct EnergyThreshold: Hashable, Sendable {
    public enum Period: String, Hashable, Sendable, CaseIterable {
        /// Of the local calendar; a week begins on Monday.
        case hour, day, week, month
        /// Since the relay was turned on last.
        case on
    }

    public var wattHours: Double
    public var period: Period

    public init(_ wattHours: Double, since period: Period) {
        self.wattHours = wattHours
        self.period = period
    }
}

/// What ``ApplianceSense/ApplianceSense`` says of the appliance on a plug; a kind of nil: whichever it is.
public enum ApplianceTrigger: Hashable, Sendable {
    case started(ApplianceCycle.Kind?)
    case finished(ApplianceCycle.Kind?)
}
