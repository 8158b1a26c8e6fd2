import ProtocolCore

/// Decides when the stored state is written. Flash wears out, so a change waits a little for the next one, writes keep a
/// distance, and energy alone is written a few times a day.
struct StateKeeper {
    /// How long a change rests before it is written.
    static let settling = Duration.seconds(5)
    /// Two writes are at least this far apart: at most 2880 a day, however often the relay is switched.
    static let spacing = Duration.seconds(30)
    /// A loss of power costs at most the energy of this long.
    static let energyInterval = Duration.seconds(6 * 3600)

    /// After a failed write: a storage that is full or broken is not tried at every change.
    static let retryInterval = Duration.seconds(300)

    /// What flash has; nil where a write failed, so that nobody knows.
    private var stored: StoredState?
    private var lastWrite: Instant
    private(set) var nextDeadline: Instant?

    /// - Parameters:
    ///   - stored: what flash has.
    ///   - energy: what is known, in milliwatt-hours. Where a killed process knew more than flash it is written soon: a
    ///     firmware that never lives for ``energyInterval`` would else never write it.
    init(_ stored: StoredState, energy: UInt64, now: Instant) {
        self.stored = stored
        lastWrite = now
        nextDeadline = now + (energy == stored.milliwattHours ? Self.energyInterval : Self.spacing)
    }

    /// Called after every event. Returns true when the state is to be written now.
    mutating func shouldWrite(_ state: StoredState, now: Instant) -> Bool {
        if let deadline = nextDeadline, deadline <= now { return write(state, now: now) }
        guard let stored else { return false }
        if state.relayOn != stored.relayOn || state.level != stored.level {
            nextDeadline = sooner(nextDeadline, max(now + Self.settling, lastWrite + Self.spacing))
        }
        return false
    }

    /// Writes at once, before the plug stops. Returns false if flash has it already.
    mutating func write(_ state: StoredState, now: Instant) -> Bool {
        nextDeadline = now + Self.energyInterval
        guard state != stored else { return false }
        stored = state
        lastWrite = now
        return true
    }

    mutating func failed(now: Instant) {
        stored = nil
        nextDeadline = now + Self.retryInterval
    }
}
