/// More than this for so long, and the relay opens.
public struct OverPowerLimit: Hashable, Sendable {
    /// Active power in tenths of a watt, in either direction.
    public var deciwatts: Int32
    public var duration: Duration

    /// An inrush is over by then.
    static let usualDuration = Duration.seconds(5)

    public init(deciwatts: Int32, duration: Duration) {
        self.deciwatts = deciwatts
        self.duration = duration
    }
}

/// How much current the relay opens at: the sooner the higher it is, and beyond a second threshold at once.
public struct OverCurrentLimits: Hashable, Sendable {
    /// What it carries for ever.
    public var ratedMilliamperes: UInt32
    /// Above this one measurement is enough.
    public var instantMilliamperes: UInt32
    /// How long it carries twice the rated current, beginning cold. The time at n times it follows: 3 / (n² - 1) of this.
    public var atTwiceRated: Duration

    public init(ratedMilliamperes: UInt32, instantMilliamperes: UInt32, atTwiceRated: Duration) {
        self.ratedMilliamperes = ratedMilliamperes
        self.instantMilliamperes = instantMilliamperes
        self.atTwiceRated = atTwiceRated
    }
}

/// Beyond this for so long while the relay is closed, and it opens.
public struct VoltageLimit: Hashable, Sendable {
    /// RMS voltage in tenths of a volt.
    public var decivolts: UInt16
    public var duration: Duration

    public init(decivolts: UInt16, duration: Duration) {
        self.decivolts = decivolts
        self.duration = duration
    }
}

/// Hotter than this inside, and the relay opens.
public struct TemperatureLimit: Hashable, Sendable {
    /// Tenths of a degree Celsius.
    public var decidegrees: Int16
    /// No reset is taken before it has cooled down by so much below the limit; tenths of a degree.
    public var hysteresis: Int16

    public init(decidegrees: Int16, hysteresis: Int16) {
        self.decidegrees = decidegrees
        self.hysteresis = hysteresis
    }
}

/// More than either of these for so long while the relay is open, and its contacts have welded.
public struct WeldedRelayLimit: Hashable, Sendable {
    /// Active power in tenths of a watt, in either direction.
    public var deciwatts: Int32
    /// What leaks through a suppressor across the contacts is some milliamperes.
    public var milliamperes: UInt32
    public var duration: Duration

    public init(deciwatts: Int32, milliamperes: UInt32, duration: Duration) {
        self.deciwatts = deciwatts
        self.milliamperes = milliamperes
        self.duration = duration
    }
}

/// How often commands and timers may switch the relay: `count` times at once, and again as the window passes.
public struct SwitchingRate: Hashable, Sendable {
    public var count: Int
    public var window: Duration

    public init(count: Int, window: Duration) {
        self.count = count
        self.window = window
    }

    /// A relay lives for 10⁴ to 10⁵ operations under load: a rule gone wrong shall not use them up in a night. Somebody who
    /// plays with his plug does not get here.
    public static let usual = SwitchingRate(count: 60, window: .seconds(600))
}
