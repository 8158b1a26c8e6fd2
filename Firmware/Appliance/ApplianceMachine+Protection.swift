import PlugModel
import ProtocolCore

extension ApplianceMachine {
    /// Locks the relay open until somebody resets it.
    mutating func trip(_ protection: Protection, _ now: Instant, _ actions: inout [Action]) {
        tripped = protection
        actions.append(.record(.protectionTripped(protection)))
        if relayOn {
            _ = switchRelay(false, cause: .protection, now, &actions)
        } else {
            rest.cancel()
            // Contacts that stick sometimes let go at another try.
            if protection == .weldedRelay { actions.append(.setRelay(false)) }
        }
    }

    /// Takes the lock away; the relay stays open. What got too hot has to cool down first.
    /// - Returns: whether there was one to take away.
    mutating func resetProtection(cause: RelayCause, _ actions: inout [Action]) -> Bool {
        guard let reset = tripped, reset != .overTemperature || guards.tooHot == nil else { return false }
        tripped = nil
        switchingRate.refill()
        actions.append(.record(.protectionReset(reset, cause: cause)))
        return true
    }

    mutating func judge(_ found: Protection?, _ now: Instant, _ actions: inout [Action]) {
        guard let found, found != tripped else { return }
        // One lock is enough, but that it does not hold is news.
        if tripped == nil || found == .weldedRelay { trip(found, now, &actions) }
    }
}
