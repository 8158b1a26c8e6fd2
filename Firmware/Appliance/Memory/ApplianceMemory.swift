public import ProtocolCore

/// The state of an appliance at the end of its previous run.
public struct ApplianceMemory: Hashable, Sendable {
    /// Timers that continue across a restart of the firmware, on the clock of the same boot.
    public struct Timers: Hashable, Sendable {
        /// When the relay turns off automatically, or nil.
        public var autoOff: Instant?
        /// When the relay opened, or nil while it is closed or if the time is unknown.
        public var offSince: Instant?
        /// The request to turn on at the end of the rest time, or nil.
        public var delayed: DelayedStart?

        /// Creates timers; by default none runs.
        public init(autoOff: Instant? = nil, offSince: Instant? = nil, delayed: DelayedStart? = nil) {
            self.autoOff = autoOff
            self.offSince = offSince
            self.delayed = delayed
        }
    }

    /// The newest known state, or nil if neither mirror nor flash has one: the plug is new or was reset to factory
    /// state.
    public var state: StoredState?
    /// The state that flash has stored. It may be older than ``state``.
    public var inFlash: StoredState?
    /// True if the board lost power, which opens the relay. False if only the firmware restarted, which leaves the
    /// relay as it was.
    public var powerLost: Bool
    /// The timers of the previous run.
    public var timers = Timers()

    /// Creates a memory without timers.
    /// - Parameter state: The state that flash has stored.
    public init(_ state: StoredState? = nil, powerLost: Bool = true) {
        self.state = state
        inFlash = state
        self.powerLost = powerLost
    }
}
