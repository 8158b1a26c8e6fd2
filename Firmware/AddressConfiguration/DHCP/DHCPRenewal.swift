import ProtocolCore

/// Handles deadlines of the search and of a lease in BOUND, RENEWING and REBINDING.
extension DHCPClient {
    mutating func deadlineReached(now: Instant) -> [Action] {
        guard let deadline = nextDeadline, deadline <= now else { return [] }
        switch state {
        case .off: return []
        case .initial: return discover(now: now)
        case .initReboot(_, let address): return reboot(address, now: now)
        case .selecting(let exchange, let fallback): return goOnSelecting(exchange, fallback: fallback, now: now)
        case .requesting(let exchange, let offer): return goOnRequesting(exchange, offer: offer, now: now)
        case .rebooting(let exchange, let address): return goOnRebooting(exchange, address, now: now)
        case .checking(let lease), .bound(let lease), .renewing(let lease, _), .rebinding(let lease, _):
            return goOn(with: lease, now: now)
        }
    }

    /// Handles the latest deadline of the lease that has passed: its end, T2 or T1. After a long suspend, several have
    /// passed.
    private mutating func goOn(with lease: DHCPLease, now: Instant) -> [Action] {
        if let end = lease.expires, end <= now {
            return giveUpLease(.expired) + failed(now: now)
        }
        if let time = lease.rebinds, time <= now {
            return ask(lease, anybody: true, until: lease.expires, now: now)
        }
        return ask(lease, anybody: false, until: lease.rebinds, now: now)
    }

    /// Requests a renewal of the lease (RFC 2131 §4.4.5) from its server, or from any server if `anybody` is true. Each
    /// try is a separate exchange, so that the lease time counts from the answered request.
    private mutating func ask(
        _ lease: DHCPLease, anybody: Bool, until end: Instant?, now: Instant
    ) -> [Action] {
        let wait = max(((end ?? now) - now) / 2, RFC2131.leastRenewalRetry)
        let exchange = DHCPExchange(
            transaction: UInt32(truncatingIfNeeded: random.next()),
            seconds: DHCPExchange.seconds(since: lease.renews ?? now, now: now), began: now, next: now + wait)
        let request = message(.request, exchange, clientAddress: lease.address)
        state = anybody ? .rebinding(lease, exchange) : .renewing(lease, exchange)
        return [anybody ? .broadcast(request) : .send(request, from: lease.address, to: lease.server)]
    }
}
