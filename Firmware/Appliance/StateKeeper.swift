import ProtocolCore

/// Decides when the stored state is written. Flash wears out, so a change waits a little for the next one, writes keep a
/// distance, and energy alone is written when enough of it has come together.
struct StateKeeper {
    /// How long a change rests before it is written.
    static let settling = Duration.seconds(5)
    /// Two writes are at least this far apart: at most 60 per hour, however often the relay is switched. Only a lock is written
    /// at once: what trips a plug often trips the fuse, and the lock must outlive it.
    static let spacing = Duration.seconds(60)
    /// A loss of power costs at most this much energy, in milliwatt-hours, or what is drawn in ``spacing`` where that is more
    /// (above 6 kW)...
    static let energyStep: UInt64 = 100_000
    /// ...and at most the energy of this long.
    static let energyInterval = Duration.seconds(3600)

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
        if let stored, let wanted = wanted(state, stored, now: now) { nextDeadline = sooner(nextDeadline, wanted) }
        guard let nextDeadline, nextDeadline <= now else { return false }
        return write(state, now: now)
    }

    private func wanted(_ state: StoredState, _ stored: StoredState, now: Instant) -> Instant? {
        // A relay that does not open is worse than whatever locked it before.
        if let tripped = state.tripped, tripped != stored.tripped,
            stored.tripped == nil || tripped == .weldedRelay
        {
            return now
        }
        if state.relayOn != stored.relayOn || state.level != stored.level || state.tripped != stored.tripped {
            return max(now + Self.settling, lastWrite + Self.spacing)
        }
        let isMuch = state.milliwattHours.subtractingReportingOverflow(stored.milliwattHours)
        return !isMuch.overflow && isMuch.partialValue >= Self.energyStep ? lastWrite + Self.spacing : nil
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
