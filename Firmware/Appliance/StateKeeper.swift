import ProtocolCore

/// Decides when the stored state is written. Flash wears out, so changes are collected for a short time, a minimum time
/// passes between two writes, and energy causes a write only after a certain amount.
struct StateKeeper {
    /// How long a change waits for further changes before it is written.
    static let settling = Duration.seconds(5)
    /// The minimum time between two writes: at most 48 writes per hour. Only a lock is written at once, because the
    /// fault that trips a plug often trips the fuse too, and the lock must survive this loss of power.
    static let spacing = Duration.seconds(75)
    /// The energy, in milliwatt-hours, that causes a write. A loss of power loses at most this much, or the energy
    /// drawn in ``spacing`` if that is more (above 4.8 kW).
    static let energyStep: UInt64 = 100_000
    /// The maximum time between two writes of changed energy.
    static let energyInterval = Duration.seconds(3600)

    /// The time between a failed write and the next attempt, because the storage may stay full or broken.
    static let retryInterval = Duration.seconds(300)

    /// The state that flash has stored, or nil after a failed write.
    private var stored: StoredState?
    private var lastWrite: Instant
    private(set) var nextDeadline: Instant?

    /// Creates a keeper.
    /// - Parameters:
    ///   - stored: The state that flash has stored.
    ///   - energy: The known energy in milliwatt-hours. If the mirror knows more than flash, the energy is written
    ///     soon; otherwise a firmware that always restarts within ``energyInterval`` would never write it.
    init(_ stored: StoredState, energy: UInt64, now: Instant) {
        self.stored = stored
        lastWrite = now
        nextDeadline = now + (energy == stored.milliwattHours ? Self.energyInterval : Self.spacing)
    }

    /// Returns true if the state must be written now. Called after every event.
    mutating func shouldWrite(_ state: StoredState, now: Instant) -> Bool {
        if let stored, let wanted = wanted(state, stored, now: now) { nextDeadline = sooner(nextDeadline, wanted) }
        guard let nextDeadline, nextDeadline <= now else { return false }
        return write(state, now: now)
    }

    private func wanted(_ state: StoredState, _ stored: StoredState, now: Instant) -> Instant? {
        // A relay that does not open is more serious than the reason of an earlier lock.
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

    /// Marks the state as written, for example before the plug stops. Returns false if flash has it already.
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
