import DNSWire
import ProtocolCore

/// Searches for a lease: INIT, SELECTING, REQUESTING, and INIT-REBOOT, REBOOTING.
extension DHCPClient {
    /// Counts and times that the RFC leaves to the client. Most are small, because a user waits for the address.
    enum Search {
        /// The number of REQUEST messages to a server that made an offer. The waits after them are 4 and 8 s, so the
        /// search restarts after about 12 s.
        static let requests = 2
        /// The number of REQUEST messages for the last address. After them, the client searches for any address
        /// (DISCOVER).
        static let reboots = 2
        /// The wait after each request for the last address. It is shorter than in §4.1, because in a different network
        /// no server may answer.
        static let rebootWait = Duration.milliseconds(1500)...Duration.milliseconds(2500)
        /// The time during which an address that another host had is not accepted from any server.
        static let declinedFor = Duration.seconds(600)
        /// The time during which offers of a server that refused or ignored a request for its own offer have the lowest
        /// priority.
        static let avoidedFor = Duration.seconds(600)
    }

    /// Starts the search after the link came up or the host resumed. Requests the last lease first unless it has
    /// expired.
    mutating func begin(spread: Bool, now: Instant) -> [Action] {
        let isExpired = lease?.expires.map { $0 <= now } ?? false
        let actions = giveUpLease(isExpired ? .expired : .linkLost)
        searchBegan = now
        let first = now + (spread ? random.duration(in: RFC2131.startSpread) : .zero)
        let time = max(first, starts.earliest(now: now))
        if let candidate, candidate.expires.map({ now < $0 }) ?? true {
            state = .initReboot(at: time, candidate.address)
        } else {
            state = .initial(at: time)
        }
        return actions + deadlineReached(now: now)
    }

    /// Ends the use of a lease, and keeps it as the first one to request.
    mutating func giveUpLease(_ end: AddressingNotice.LeaseEnd) -> [Action] {
        switch state {
        case .off, .initial, .selecting, .requesting, .initReboot, .rebooting: return []
        case .checking(let lease):
            candidate = Candidate(address: lease.address, expires: lease.expires)
            return []
        case .bound(let lease), .renewing(let lease, _), .rebinding(let lease, _):
            candidate = Candidate(address: lease.address, expires: lease.expires)
            return [.lost(end)]
        }
    }

    /// Returns to INIT. The search restarts immediately, or after a wait that grows with each failure.
    mutating func failed(atLeast least: Duration = .zero, now: Instant) -> [Action] {
        let wait = max(least, backoff.waitAfterFailure(now: now, using: &random))
        searchBegan = now
        state = .initial(at: max(now + wait, starts.earliest(now: now)))
        return deadlineReached(now: now)
    }

    /// Starts a new exchange after INIT or INIT-REBOOT.
    private mutating func newExchange(wait: Duration, now: Instant) -> DHCPExchange {
        starts.begin(now: now)
        return DHCPExchange(
            transaction: UInt32(truncatingIfNeeded: random.next()),
            seconds: DHCPExchange.seconds(since: searchBegan, now: now), began: now, next: now + wait)
    }

    mutating func discover(now: Instant) -> [Action] {
        let exchange = newExchange(wait: RFC2131.retransmission(0, using: &random), now: now)
        state = .selecting(exchange, fallback: nil)
        return [.broadcast(message(.discover, exchange, requested: candidate?.address))]
    }

    mutating func reboot(_ address: IPv4Address, now: Instant) -> [Action] {
        let exchange = newExchange(wait: random.duration(in: Search.rebootWait), now: now)
        state = .rebooting(exchange, address)
        return [.broadcast(message(.request, exchange, requested: address))]
    }

    /// Ends SELECTING by accepting one offer. The broadcast declines the offers of all other servers (RFC 2131 §3.1.3).
    mutating func request(_ offer: DHCPLease, in exchange: DHCPExchange, now: Instant) -> [Action] {
        var exchange = exchange
        (exchange.began, exchange.sent) = (now, 1)
        exchange.next = now + RFC2131.retransmission(0, using: &random)
        state = .requesting(exchange, offer: offer)
        return [.broadcast(message(.request, exchange, requested: offer.address, server: offer.server))]
    }

    mutating func goOnSelecting(
        _ last: DHCPExchange, fallback: DHCPLease?, now: Instant
    ) -> [Action] {
        if let fallback { return request(fallback, in: last, now: now) }
        var exchange = last
        exchange.next = now + RFC2131.retransmission(exchange.sent, using: &random)
        // A higher count would not change the wait.
        exchange.sent = min(exchange.sent + 1, RFC2131.retransmissions.count)
        exchange.seconds = DHCPExchange.seconds(since: searchBegan, now: now)
        state = .selecting(exchange, fallback: nil)
        return [.broadcast(message(.discover, exchange, requested: candidate?.address))]
    }

    mutating func goOnRequesting(_ last: DHCPExchange, offer: DHCPLease, now: Instant) -> [Action] {
        guard last.sent < Search.requests else {
            avoided.insert(offer.server, until: now + Search.avoidedFor)
            return failed(now: now)
        }
        var exchange = last
        exchange.next = now + RFC2131.retransmission(exchange.sent, using: &random)
        exchange.sent += 1
        state = .requesting(exchange, offer: offer)
        return [.broadcast(message(.request, exchange, requested: offer.address, server: offer.server))]
    }

    mutating func goOnRebooting(_ last: DHCPExchange, _ address: IPv4Address, now: Instant) -> [Action] {
        guard last.sent < Search.reboots else {
            // No server answers. RFC 2131 §3.2.3 would allow the client to use the address, but in a different network
            // another host may have it.
            state = .initial(at: starts.earliest(now: now))
            return deadlineReached(now: now)
        }
        var exchange = last
        exchange.next = now + random.duration(in: Search.rebootWait)
        exchange.sent += 1
        exchange.seconds = DHCPExchange.seconds(since: searchBegan, now: now)
        state = .rebooting(exchange, address)
        return [.broadcast(message(.request, exchange, requested: address))]
    }

    /// Sends DECLINE and waits at least 10 s before the next search (RFC 2131 §3.1.5).
    mutating func addressInConflict(now: Instant) -> [Action] {
        let actions: [Action]
        let lost: DHCPLease
        switch state {
        case .off, .initial, .selecting, .requesting, .initReboot, .rebooting: return []
        case .checking(let lease): (lost, actions) = (lease, [])
        case .bound(let lease), .renewing(let lease, _), .rebinding(let lease, _):
            (lost, actions) = (lease, [.lost(.conflict)])
        }
        declined.insert(lost.address, until: now + Search.declinedFor)
        candidate = nil
        let decline = decline(lost, transaction: UInt32(truncatingIfNeeded: random.next()))
        return actions + [.broadcast(decline)] + failed(atLeast: RFC2131.declineWait, now: now)
    }
}
