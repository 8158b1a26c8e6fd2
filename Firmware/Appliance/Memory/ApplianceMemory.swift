public import ProtocolCore

/// What an appliance knows of its life before.
public struct ApplianceMemory: Hashable, Sendable {
    /// What runs on over a restart of the firmware, on the clock of the same boot.
    public struct Timers: Hashable, Sendable {
        /// When the relay turns off by itself.
        public var autoOff: Instant?
        /// When the relay opened last; nil while it is closed, and where nobody knows.
        public var offSince: Instant?
        /// Who gets the relay turned on when its rest ends.
        public var delayed: DelayedStart?

        public init(autoOff: Instant? = nil, offSince: Instant? = nil, delayed: DelayedStart? = nil) {
            self.autoOff = autoOff
            self.offSince = offSince
            self.delayed = delayed
        }
    }

    /// The newest state that is known. Nil: neither mirror nor flash has one, the plug is new, or as
    /// new after a factory reset.
    public var state: StoredState?
    /// The state as flash has it, which may be older.
    public var inFlash: StoredState?
    /// The board was without power, so the relay fell open; otherwise only the firmware restarted, and the relay goes on as
    /// it was.
    public var powerLost: Bool
    public var timers = Timers()

    /// - Parameter state: as flash has it.
    public init(_ state: StoredState? = nil, powerLost: Bool = true) {
        self.state = state
        inFlash = state
        self.powerLost = powerLost
    }
}
