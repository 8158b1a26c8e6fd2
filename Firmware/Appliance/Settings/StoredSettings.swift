public import PlugModel

/// The settings that controllers have changed. Flash keeps them until a factory reset. Nil means the configured value.
public struct StoredSettings: Hashable, Sendable {
    /// The requested service instance name.
    public var name: String?
    /// The relay's state after a loss of power.
    public var powerOn: PowerOnState?
    /// The auto-off time. Zero disables auto-off.
    public var autoOff: Duration?
    /// The limit of the power in tenths of a watt.
    public var powerLimit: UInt32?
    /// True if the button is off, except for a factory reset.
    public var childLock: Bool?
    /// The time of day in which the light is dark.
    public var lightOff: DailySpan?

    /// Creates settings; by default all are as configured.
    public init(
        name: String? = nil, powerOn: PowerOnState? = nil, autoOff: Duration? = nil, powerLimit: UInt32? = nil,
        childLock: Bool? = nil, lightOff: DailySpan? = nil
    ) {
        self.name = name
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
        self.childLock = childLock
        self.lightOff = lightOff
    }

    mutating func apply(_ change: SettingsChange) {
        if let new = change.powerOn { powerOn = new.value }
        if let new = change.autoOff { autoOff = new.value }
        if let new = change.powerLimit { powerLimit = new.value }
        if let new = change.childLock { childLock = new.value }
        if let new = change.lightOff { lightOff = new.value }
    }
}

extension SettingsChange.NewValue {
    /// The requested value, or nil for the configured value.
    var value: Value? {
        switch self {
        case .value(let value): value
        case .asConfigured: nil
        }
    }
}
