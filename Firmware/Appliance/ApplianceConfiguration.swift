public import PlugProtocol

/// What a plug does when it has power again.
public enum PowerOnState: String, Hashable, Sendable, CaseIterable {
    case off, on
    /// As it was before.
    case last
}

/// More than this for so long, and the relay opens.
public struct OverPowerLimit: Hashable, Sendable {
    /// Active power in tenths of a watt.
    public var deciwatts: Int32
    public var duration: Duration

    public init(deciwatts: Int32, duration: Duration) {
        self.deciwatts = deciwatts
        self.duration = duration
    }
}

/// How one plug is built and set up.
public struct ApplianceConfiguration: Hashable, Sendable {
    public var capabilities: Set<Capability> = [.relay, .meter, .button]
    public var powerOnState = PowerOnState.last
    /// Every time the relay turns on it turns off again after this long, unless the command named its own time.
    public var autoOff: Duration?
    /// A contact counts as changed once it has rested this long; shorter is bouncing or a spike from the mains.
    public var debounce = Duration.milliseconds(20)
    /// A press shorter than this switches the relay; one that lasts is a long press.
    public var longPress = Duration.seconds(1)
    /// A second press that begins within this after the first one's release makes a double press; zero turns them off.
    public var doublePressWindow = Duration.milliseconds(300)
    /// Held for so long the button makes the light warn of the reset that is to come: whoever lets go is spared it.
    public var resetWarning = Duration.seconds(10)
    /// Held for so long it sets the plug back to factory state.
    public var resetHold = Duration.seconds(15)
    public var meterInterval = Duration.seconds(1)
    /// Older than this, the last reading is no longer shown: a silent meter is not a steady load.
    public var readingLifetime = Duration.seconds(5)
    /// Nil turns the protection off. The default is a 16 A socket at 230 V.
    public var overPower: OverPowerLimit? = OverPowerLimit(deciwatts: 36_800, duration: .seconds(5))

    public init() {}
}

/// What flash keeps over a loss of power.
public struct StoredState: Hashable, Sendable {
    public var relayOn: Bool
    /// The level to turn on at; kept also by a plug without a dimmer, where it means nothing.
    public var level: DimLevel
    /// Active energy since the plug was made.
    public var milliwattHours: UInt64

    public init(relayOn: Bool = false, level: DimLevel = .full, milliwattHours: UInt64 = 0) {
        self.relayOn = relayOn
        self.level = level
        self.milliwattHours = milliwattHours
    }
}
