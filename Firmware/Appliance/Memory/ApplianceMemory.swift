public import ProtocolCore

/// What an appliance knows of its life before.
public struct ApplianceMemory: Hashable, Sendable {
    /// The newest state that is known. Nil: neither mirror nor flash has one, the plug is new, or as
    /// new after a factory reset.
    public var state: StoredState?
    /// The state as flash has it, which may be older.
    public var inFlash: StoredState?
    /// The board was without power, so the relay fell open; otherwise only the firmware restarted, and the relay goes on as
    /// it was.
    public var powerLost: Bool
    /// When the relay turns off by itself.
    public var autoOff: Instant?

    /// - Parameter state: as flash has it.
    public init(_ state: StoredState? = nil, powerLost: Bool = true) {
        self.state = state
        inFlash = state
        self.powerLost = powerLost
    }
}
