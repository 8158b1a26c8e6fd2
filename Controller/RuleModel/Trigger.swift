public import ApplianceSense
public import PlugModel

/// An edge: an event at one point in time. Plugs are named as the user writes them; ``RuleEngine`` describes how a name
/// is resolved.
public enum Trigger: Hashable, Sendable {
    /// The active power crossed the threshold and stayed beyond it for the threshold's dwell.
    case activePower(plug: String, PowerThreshold)
    /// The active power entered the band from outside and stayed for the band's dwell.
    case activePowerStays(plug: String, PowerBand)
    /// The energy of a period exceeded the limit.
    case activeEnergy(plug: String, EnergyThreshold)
    /// The button was pressed in this way.
    case button(plug: String, ButtonPress)
    /// The relay switched, for any cause. A nil `on` matches both directions.
    case relay(plug: String, on: Bool?)
    /// The plug was not connected for `dwell`. A plug that has never been present does not count as lost.
    case lost(plug: String, dwell: Duration)
    /// The plug was lost and then connected again for `dwell`.
    case back(plug: String, dwell: Duration)
    /// A protection tripped; nil for any protection.
    case protection(plug: String, Protection?)
    /// The connected appliance started or finished a cycle.
    case appliance(plug: String, ApplianceTrigger)
    /// The schedule is due.
    case schedule(Schedule)
    /// The rule of this name fired.
    case rule(String)
    /// A timer that a script started ran out.
    case timer(ScriptTimer)

    /// The plug of the trigger; nil for schedules, rules and timers.
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

/// A band of active power, both ends included, with a dwell. After a firing, and after a plug has appeared, the trigger
/// is armed only when the power is below the lower end or above the upper end by more than the hysteresis of that end.
public struct PowerBand: Hashable, Sendable {
    /// The lower end in watts.
    public var low: Double
    /// The upper end in watts.
    public var high: Double
    /// How long the power must stay in the band; zero fires at the entry.
    public var dwell: Duration
    /// The hysteresis in watts; never negative. Nil applies ``PowerThreshold/defaultHysteresis(for:)`` to each end
    /// separately. If both ends had the hysteresis of a high upper end, it could exceed the lower end, and the power
    /// could not leave the band downwards.
    public var hysteresis: Double?

    /// Creates a band from `low` to `high` watts.
    public init(_ low: Double, _ high: Double, dwell: Duration = .zero, hysteresis: Double? = nil) {
        self.low = low
        self.high = high
        self.dwell = dwell
        self.hysteresis = hysteresis
    }

    /// The trigger is armed again when the power falls below this value in watts.
    public var armsBelow: Double { low - (hysteresis ?? PowerThreshold.defaultHysteresis(for: low)) }
    /// The trigger is armed again when the power rises above this value in watts.
    public var armsAbove: Double { high + (hysteresis ?? PowerThreshold.defaultHysteresis(for: high)) }
}

/// A limit of active energy in a period, measured by the plug's counter. The trigger fires once per period, when the
/// energy exceeds the limit.
public struct EnergyThreshold: Hashable, Sendable {
    /// The period whose energy counts.
    public enum Period: String, Hashable, Sendable, CaseIterable {
        /// A period of the local calendar. A week begins on Monday.
        case hour, day, week, month
        /// The time since the relay was last turned on.
        case on
    }

    /// The limit in Wh. The energy must exceed this limit.
    public var wattHours: Double
    /// The period whose energy counts.
    public var period: Period

    /// Creates a limit of `wattHours` per `period`.
    public init(_ wattHours: Double, since period: Period) {
        self.wattHours = wattHours
        self.period = period
    }
}

/// An event of the appliance that ``ApplianceSense/ApplianceSense`` detects on a plug. A nil kind matches cycles of any
/// kind.
public enum ApplianceTrigger: Hashable, Sendable {
    /// A cycle of this kind started. The event comes as soon as the detection is certain.
    case started(ApplianceCycle.Kind?)
    /// A cycle of this kind has probably finished. It may continue, and be reported again.
    case probablyFinished(ApplianceCycle.Kind?)
    /// A cycle of this kind has certainly finished.
    case finished(ApplianceCycle.Kind?)
}
