/// What a plug does when it has power again.
public enum PowerOnState: String, Hashable, Sendable, CaseIterable {
    case off, on
    /// As it was before.
    case last
    /// On, and nobody turns it off: for what must not be turned off by mistake. Only protection opens the relay.
    case lockedOn = "locked-on"
}

/// What a person may change of a plug from afar, as it stands.
public struct RemoteSettings: Hashable, Sendable {
    public var powerOn: PowerOnState
    /// It turns off so long after it was turned on, unless the command names its own time; nil: it does not.
    public var autoOff: Duration?
    /// Tenths of a watt; it turns off and locks when it carries more for some seconds. Nil: no limit.
    public var powerLimit: UInt32?

    public init(powerOn: PowerOnState, autoOff: Duration? = nil, powerLimit: UInt32? = nil) {
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
    }
}

/// What is to become of the settings, all of it or nothing; nil leaves one as it is.
public struct SettingsChange: Hashable, Sendable {
    public enum Wish<Value: Hashable & Sendable>: Hashable, Sendable {
        case value(Value)
        /// As the plug's own configuration says.
        case asConfigured
    }

    public var powerOn: Wish<PowerOnState>?
    /// In whole milliseconds; zero: it does not turn off by itself.
    public var autoOff: Wish<Duration>?
    /// Tenths of a watt.
    public var powerLimit: Wish<UInt32>?

    public init(
        powerOn: Wish<PowerOnState>? = nil, autoOff: Wish<Duration>? = nil, powerLimit: Wish<UInt32>? = nil
    ) {
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
    }
}
