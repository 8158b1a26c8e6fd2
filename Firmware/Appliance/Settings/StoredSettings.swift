public import PlugModel

/// What controllers have changed of a plug, as flash keeps it until a factory reset. Nil: as it is configured.
public struct StoredSettings: Hashable, Sendable {
    /// The service instance name that it asks for.
    public var name: String?
    public var powerOn: PowerOnState?
    /// Zero: it does not turn off by itself.
    public var autoOff: Duration?
    /// Tenths of a watt.
    public var powerLimit: UInt32?

    public init(
        name: String? = nil, powerOn: PowerOnState? = nil, autoOff: Duration? = nil, powerLimit: UInt32? = nil
    ) {
        self.name = name
        self.powerOn = powerOn
        self.autoOff = autoOff
        self.powerLimit = powerLimit
    }

    mutating func take(_ change: SettingsChange) {
        if let wish = change.powerOn { powerOn = wish.value }
        if let wish = change.autoOff { autoOff = wish.value }
        if let wish = change.powerLimit { powerLimit = wish.value }
    }
}

extension SettingsChange.Wish {
    /// Nil: as configured.
    var value: Value? {
        switch self {
        case .value(let value): value
        case .asConfigured: nil
        }
    }
}
