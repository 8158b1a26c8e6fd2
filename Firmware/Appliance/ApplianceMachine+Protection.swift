import PlugModel
import ProtocolCore

extension ApplianceMachine {
    /// Locks the relay open until the protection is reset.
    mutating func trip(_ protection: Protection, _ now: Instant, _ actions: inout [Action]) {
        tripped = protection
        actions.append(.record(.protectionTripped(protection)))
        if relayOn {
            _ = switchRelay(false, cause: .protection, now, &actions)
        } else {
            rest.cancel()
            // Welded contacts sometimes separate on a second attempt.
            if protection == .weldedRelay { actions.append(.part(.setRelay(false))) }
        }
    }

    /// Removes the lock; the relay stays open. An over-temperature lock can be removed only after the plug has cooled
    /// down.
    /// - Returns: True if a lock was removed.
    mutating func resetProtection(cause: RelayCause, _ actions: inout [Action]) -> Bool {
        guard let reset = tripped, reset != .overTemperature || guards.tooHot == nil else { return false }
        tripped = nil
        switchingRate.refill()
        actions.append(.record(.protectionReset(reset, cause: cause)))
        return true
    }

    mutating func judge(_ found: Protection?, _ now: Instant, _ actions: inout [Action]) {
        guard let found, found != tripped else { return }
        // One lock is enough. A welded relay is reported in addition, because then the lock has no effect.
        if tripped == nil || found == .weldedRelay { trip(found, now, &actions) }
    }
}
