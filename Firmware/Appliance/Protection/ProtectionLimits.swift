/// The active power and the duration at which the relay opens.
public struct OverPowerLimit: Hashable, Sendable {
    /// Active power in tenths of a watt, in either direction.
    public var deciwatts: Int32
    /// How long the power may exceed the limit.
    public var duration: Duration

    /// The default duration, which is longer than an inrush current.
    static let usualDuration = Duration.seconds(5)

    /// Creates a limit.
    public init(deciwatts: Int32, duration: Duration) {
        self.deciwatts = deciwatts
        self.duration = duration
    }
}

/// The currents at which the relay opens: sooner for a higher current, and at once above a second threshold.
public struct OverCurrentLimits: Hashable, Sendable {
    /// The current that the relay carries permanently.
    public var ratedMilliamperes: UInt32
    /// A single measurement above this current opens the relay.
    public var instantMilliamperes: UInt32
    /// How long the relay carries twice the rated current when it begins cold. At n times the rated current, this time
    /// is multiplied by 3 / (n² - 1).
    public var atTwiceRated: Duration

    /// Creates the limits.
    public init(ratedMilliamperes: UInt32, instantMilliamperes: UInt32, atTwiceRated: Duration) {
        self.ratedMilliamperes = ratedMilliamperes
        self.instantMilliamperes = instantMilliamperes
        self.atTwiceRated = atTwiceRated
    }
}

/// The voltage and the duration at which the relay opens. Only checked while the relay is closed.
public struct VoltageLimit: Hashable, Sendable {
    /// RMS voltage in tenths of a volt.
    public var decivolts: UInt16
    /// How long the voltage may exceed the limit, or be below it.
    public var duration: Duration

    /// Creates a limit.
    public init(decivolts: UInt16, duration: Duration) {
        self.decivolts = decivolts
        self.duration = duration
    }
}

/// The inner temperature at which the relay opens.
public struct TemperatureLimit: Hashable, Sendable {
    /// The limit in tenths of a degree Celsius.
    public var decidegrees: Int16
    /// How far the temperature must fall below the limit before a reset is accepted, in tenths of a degree.
    public var hysteresis: Int16

    /// Creates a limit.
    public init(decidegrees: Int16, hysteresis: Int16) {
        self.decidegrees = decidegrees
        self.hysteresis = hysteresis
    }
}

/// The power or current through an open relay that shows welded contacts.
public struct WeldedRelayLimit: Hashable, Sendable {
    /// Active power in tenths of a watt, in either direction.
    public var deciwatts: Int32
    /// The current in milliamperes. A suppressor across the contacts leaks a few milliamperes.
    public var milliamperes: UInt32
    /// How long the power or the current must exceed its limit.
    public var duration: Duration

    /// Creates a limit.
    public init(deciwatts: Int32, milliamperes: UInt32, duration: Duration) {
        self.deciwatts = deciwatts
        self.milliamperes = milliamperes
        self.duration = duration
    }
}

/// The limit on how often commands and timers switch the relay: `count` times at once, refilled evenly within the
/// window.
public struct SwitchingRate: Hashable, Sendable {
    /// The number of switches that are possible at once.
    public var count: Int
    /// The time in which `count` switches become available again.
    public var window: Duration

    /// Creates a limit.
    public init(count: Int, window: Duration) {
        self.count = count
        self.window = window
    }

    /// 60 switches per 10 minutes. A relay lasts for 10⁴ to 10⁵ operations under load, so a faulty rule must not use
    /// them up in a night. A user who operates the plug by hand does not reach this limit.
    public static let usual = SwitchingRate(count: 60, window: .seconds(600))
}
