public import PlugModel

/// How one plug is built and set up. What protects it has the numbers of a socket for 16 A at 230 V; nil turns one off.
public struct ApplianceConfiguration: Hashable, Sendable {
    public var capabilities: Set<Capability> = [.relay, .meter, .button]
    /// Its temperature is known.
    public var hasThermometer = false
    /// There is a light: without one nobody wakes for its patterns.
    public var hasLamp = true
    public var powerOnState = PowerOnState.last
    /// Every time the relay turns on it turns off again after this long, unless the command named its own time. Means nothing
    /// to a plug that is locked on.
    public var autoOff: Duration?

    /// A contact counts as changed once it has rested this long; shorter is bouncing or a spike from the mains. Zero where the
    /// kernel or the hardware debounces.
    public var debounce = Duration.milliseconds(20)
    /// A press shorter than this switches the relay; one that lasts is a long press.
    public var longPress = Duration.seconds(1)
    /// A second press that begins within this after the first one's release makes a double press; zero turns them off.
    public var doublePressWindow = Duration.milliseconds(300)
    /// Held for so long the button opens the pairing window.
    public var pairingHold = Duration.seconds(5)
    /// Held for so long the button makes the light warn of the reset that is to come: whoever lets go is spared it.
    public var resetWarning = Duration.seconds(10)
    /// Held for so long it sets the plug back to factory state.
    public var resetHold = Duration.seconds(15)

    /// From 100 ms to 60 s; what lies outside is taken for the nearer of them.
    public var meterInterval = Duration.seconds(1)
    /// Older than this, the last reading is no longer shown: a silent meter is not a steady load. At least 2.5 intervals.
    public var readingLifetime = Duration.seconds(5)

    public var overPower: OverPowerLimit? = OverPowerLimit(deciwatts: 36_800, duration: .seconds(5))
    public var overCurrent: OverCurrentLimits? = OverCurrentLimits(
        ratedMilliamperes: 16_000, instantMilliamperes: 40_000, atTwiceRated: .seconds(10))
    public var overVoltage: VoltageLimit? = VoltageLimit(decivolts: 2750, duration: .seconds(3))
    /// None by default: the lock would keep a freezer off for good after a brown-out.
    public var underVoltage: VoltageLimit?
    public var overTemperature: TemperatureLimit? = TemperatureLimit(decidegrees: 850, hysteresis: 150)
    public var weldedRelay: WeldedRelayLimit? = WeldedRelayLimit(
        deciwatts: 100, milliamperes: 100, duration: .seconds(5))
    /// How long the relay stays open at least once it opened, as a compressor needs it.
    public var rest: Duration?
    /// None by default: see ``SwitchingRate/usual``.
    public var switchingRate: SwitchingRate?

    public init() {}

    /// Sets what depends on how much the plug may carry, in the proportions of the defaults. A bench plug of 3 A at 24 V has
    /// its own numbers so.
    public mutating func rate(milliamperes: UInt32, decivolts: UInt16) {
        let deciwatts = Int32(clamping: UInt64(milliamperes) * UInt64(decivolts) / 1000)
        overCurrent = OverCurrentLimits(
            ratedMilliamperes: milliamperes, instantMilliamperes: UInt32(clamping: UInt64(milliamperes) * 5 / 2),
            atTwiceRated: .seconds(10))
        overPower = OverPowerLimit(deciwatts: deciwatts, duration: .seconds(5))
        overVoltage = VoltageLimit(decivolts: UInt16(clamping: UInt32(decivolts) * 6 / 5), duration: .seconds(3))
        weldedRelay = WeldedRelayLimit(
            deciwatts: max(deciwatts / 368, 1), milliamperes: max(milliamperes / 160, 1), duration: .seconds(5))
    }

    /// Between two measurements, within what the machine does.
    var measurementInterval: Duration { min(max(meterInterval, .milliseconds(100)), .seconds(60)) }
    /// How long a reading is shown, however slowly the meter is asked.
    var shownLifetime: Duration {
        // Asked after every event; Duration's own multiplication takes a thousand instructions.
        max(readingLifetime, .nanoseconds(measurementInterval.wholeNanoseconds * 5 / 2))
    }
}

/// What flash keeps over a loss of power.
public struct StoredState: Hashable, Sendable {
    /// Also while it is about to turn on, once its rest has ended.
    public var relayOn: Bool
    /// The level to turn on at; kept also by a plug without a dimmer, where it means nothing.
    public var level: DimLevel
    /// Active energy since the plug was made.
    public var milliwattHours: UInt64
    /// What locked the relay open; nil: nothing.
    public var tripped: Protection?

    public init(
        relayOn: Bool = false, level: DimLevel = .full, milliwattHours: UInt64 = 0, tripped: Protection? = nil
    ) {
        self.relayOn = relayOn
        self.level = level
        self.milliwattHours = milliwattHours
        self.tripped = tripped
    }
}
