public import PlugModel

/// Describes how one plug is built and configured. The default limits are those of a 16 A socket at 230 V. A limit of
/// nil disables its protection.
public struct ApplianceConfiguration: Hashable, Sendable {
    /// The abilities of the plug; a relay, a meter and a button by default.
    public var capabilities: Set<Capability> = [.relay, .meter, .button]
    /// True when the plug can measure its temperature.
    public var hasThermometer = false
    /// True when the plug has a status light. Without one, the machine schedules no deadlines for light patterns.
    public var hasLamp = true
    /// The time of day in which the light shows only what the user must see.
    public var lightOff = DailySpan.never
    /// The relay's state after a loss of power.
    public var powerOnState = PowerOnState.last
    /// How long the relay stays on after each time it is turned on; nil for no limit. A command can specify a different
    /// time. A plug with ``PowerOnState/lockedOn`` ignores this value.
    public var autoOff: Duration?

    /// The time a contact must be stable before its change counts. Shorter changes are bounces or spikes from the
    /// mains. Zero when the kernel or the hardware debounces.
    public var debounce = Duration.milliseconds(20)
    /// The duration at which a press becomes a long press. Shorter presses switch the relay.
    public var longPress = Duration.seconds(1)
    /// The time after the first release within which a second press must begin to make a double press. Zero disables
    /// double presses.
    public var doublePressWindow = Duration.milliseconds(300)
    /// True when the button is off: only the hold that resets the plug has an effect.
    public var isChildLocked = false
    /// How long the user holds the button to open the pairing window.
    public var pairingHold = Duration.seconds(5)
    /// How long the user holds the button until the light warns of the factory reset. Releasing the button before
    /// ``resetHold`` cancels the reset.
    public var resetWarning = Duration.seconds(10)
    /// How long the user holds the button to reset the plug to factory state.
    public var resetHold = Duration.seconds(15)

    /// The time between two measurements, clamped to 100 ms ... 60 s.
    public var meterInterval = Duration.seconds(1)
    /// The age at which the last reading is no longer shown. Otherwise a silent meter would look like a steady load.
    /// The minimum is 2.5 measurement intervals.
    public var readingLifetime = Duration.seconds(5)

    /// The limit on active power, 3680 W for 5 s by default.
    public var overPower: OverPowerLimit? = OverPowerLimit(deciwatts: 36_800, duration: .seconds(5))
    /// The limits on current, for a rated current of 16 A by default.
    public var overCurrent: OverCurrentLimits? = OverCurrentLimits(
        ratedMilliamperes: 16_000, instantMilliamperes: 40_000, atTwiceRated: .seconds(10))
    /// The upper limit of the voltage, 275 V for 3 s by default.
    public var overVoltage: VoltageLimit? = VoltageLimit(decivolts: 2750, duration: .seconds(3))
    /// The lower limit of the voltage. Nil by default, because its lock would keep a freezer off permanently after a
    /// brown-out.
    public var underVoltage: VoltageLimit?
    /// The limit of the temperature, 85.0 °C with a hysteresis of 15.0 °C by default.
    public var overTemperature: TemperatureLimit? = TemperatureLimit(decidegrees: 850, hysteresis: 150)
    /// The limits of power and current. If either is exceeded while the relay is open, the relay counts as welded.
    public var weldedRelay: WeldedRelayLimit? = WeldedRelayLimit(
        deciwatts: 100, milliamperes: 100, duration: .seconds(5))
    /// The minimum time that the relay stays open after it opened, for loads such as compressors.
    public var rest: Duration?
    /// The limit of the switching rate. Nil by default; see ``SwitchingRate/usual``.
    public var switchingRate: SwitchingRate?

    /// Creates the configuration of a 16 A socket at 230 V with relay, meter and button.
    public init() {}

    /// Sets the current, power, over-voltage and welded-relay limits from a rated current and voltage, in the
    /// proportions of the defaults. A bench plug for 3 A at 24 V gets its limits this way.
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

    /// The time between two measurements, in the range that the machine supports.
    var measurementInterval: Duration { min(max(meterInterval, .milliseconds(100)), .seconds(60)) }
    /// How long a reading is shown: at least 2.5 measurement intervals.
    var shownLifetime: Duration {
        // The machine needs this value after every event, and a multiplication of Duration takes a thousand
        // instructions. So the calculation uses nanoseconds.
        max(readingLifetime, .nanoseconds(measurementInterval.wholeNanoseconds * 5 / 2))
    }
}

/// The state that flash keeps across a loss of power.
public struct StoredState: Hashable, Sendable {
    /// True when the relay is on, and also while it waits to turn on at the end of its rest time.
    public var relayOn: Bool
    /// The level for the next time the dimmer turns on. Plugs without a dimmer store it too but ignore it.
    public var level: DimLevel
    /// Active energy in milliwatt-hours since the plug was new or was last reset to factory state.
    public var milliwattHours: UInt64
    /// The protection that locked the relay open, or nil.
    public var tripped: Protection?

    /// Creates the state of a new plug by default: off, full level, no energy, no lock.
    public init(
        relayOn: Bool = false, level: DimLevel = .full, milliwattHours: UInt64 = 0, tripped: Protection? = nil
    ) {
        self.relayOn = relayOn
        self.level = level
        self.milliwattHours = milliwattHours
        self.tripped = tripped
    }
}
