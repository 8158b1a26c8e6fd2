/// The state of the relay after power returns.
public enum PowerOnState: String, Hashable, Sendable, CaseIterable {
    case off, on
    /// The state before the power loss.
    case last
    /// On; commands and the button cannot turn the plug off, only a protection opens the relay. Used for loads that
    /// must not be turned off by mistake.
    case lockedOn = "locked-on"
}

/// The current values of the settings that a controller can change.
public struct RemoteSettings: Hashable, Sendable {
    /// The state of the relay after power returns.
    public var powerOn: PowerOnState
    /// The time after which the plug turns off again, unless the command has its own time. Nil if the plug stays on.
    public var autoOff: Duration?
    /// The power limit in tenths of a watt. The plug turns off and locks after several seconds above it. Nil for no
    /// limit.
    public var powerLimit: UInt32?
    /// True if the button is off, except for a factory reset. Nil if the plug has no button, or if its firmware does
    /// not know the setting.
    public var childLock: Bool?
    /// The time of day in which the light is dark. Nil if the plug has no light, or if its firmware does not know the
    /// setting.
    public var lightOff: DailySpan?

    /// Creates settings.
    public init(
        powerOn: PowerOnState, autoOff: Duration? = nil, powerLimit: UInt32? = nil, childLock: Bool? = nil,
        lightOff: DailySpan? = nil
    ) {
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
        self.childLock = childLock
        self.lightOff = lightOff
    }
}

/// A change of settings, applied completely or not at all. Settings that are nil stay unchanged.
public struct SettingsChange: Hashable, Sendable {
    /// The requested value of one setting.
    public enum NewValue<Value: Hashable & Sendable>: Hashable, Sendable {
        /// The setting gets this value.
        case value(Value)
        /// The setting gets the value of the plug's own configuration.
        case asConfigured
    }

    /// The state of the relay after power returns.
    public var powerOn: NewValue<PowerOnState>?
    /// The time after which the plug turns off again, in whole milliseconds. Zero means that the plug stays on.
    public var autoOff: NewValue<Duration>?
    /// The power limit in tenths of a watt.
    public var powerLimit: NewValue<UInt32>?
    /// True to turn the button off.
    public var childLock: NewValue<Bool>?
    /// The time of day in which the light is dark.
    public var lightOff: NewValue<DailySpan>?

    /// Creates a change. Nil leaves a setting unchanged.
    public init(
        powerOn: NewValue<PowerOnState>? = nil, autoOff: NewValue<Duration>? = nil,
        powerLimit: NewValue<UInt32>? = nil, childLock: NewValue<Bool>? = nil, lightOff: NewValue<DailySpan>? = nil
    ) {
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
        self.childLock = childLock
        self.lightOff = lightOff
    }
}
