import DNSWire
import ProtocolCore

/// Handles replies of servers. A message that is for a different host, answers no request or has invalid data changes
/// nothing.
extension DHCPClient {
    mutating func received(_ message: DHCPMessage, now: Instant) -> [Action] {
        guard message.operation == .reply, message.clientHardware == configuration.hardwareAddress,
            let type = message.options.messageType
        else { return [] }
        switch state {
        case .off, .initial, .initReboot, .checking, .bound: return []
        case .selecting(let exchange, let fallback):
            guard message.transaction == exchange.transaction, type == .offer else { return [] }
            return receivedOffer(message, exchange, fallback: fallback, now: now)
        case .requesting(let exchange, let offer):
            guard message.transaction == exchange.transaction, message.options.serverIdentifier == offer.server else {
                return []
            }
            return receivedAnswer(type, message, toRequestFor: offer, exchange, now: now)
        case .rebooting(let exchange, let address):
            // Any server may answer, because the request names none.
            guard message.transaction == exchange.transaction else { return [] }
            return receivedAnswer(type, message, toRebootWith: address, exchange, now: now)
        case .renewing(let lease, let exchange):
            guard message.transaction == exchange.transaction, message.options.serverIdentifier == lease.server else {
                return []
            }
            return receivedAnswer(type, message, toRenewalOf: lease, exchange, now: now)
        case .rebinding(let lease, let exchange):
            guard message.transaction == exchange.transaction else { return [] }
            return receivedAnswer(type, message, toRenewalOf: lease, exchange, now: now)
        }
    }

    /// Accepts the first valid offer immediately, so that the plug has an address soon. An offer from an unreliable
    /// server waits for a better one until the DISCOVER would be repeated.
    private mutating func receivedOffer(
        _ message: DHCPMessage, _ exchange: DHCPExchange, fallback: DHCPLease?, now: Instant
    ) -> [Action] {
        guard let offer = DHCPLease(message, obtained: now), !declined.contains(offer.address, now: now) else {
            return []
        }
        if avoided.contains(offer.server, now: now) {
            state = .selecting(exchange, fallback: fallback ?? offer)
            return []
        }
        return request(offer, in: exchange, now: now)
    }

    private mutating func receivedAnswer(
        _ type: DHCPMessageType, _ message: DHCPMessage, toRequestFor offer: DHCPLease, _ exchange: DHCPExchange,
        now: Instant
    ) -> [Action] {
        switch type {
        case .ack:
            guard let lease = acknowledged(offer.address, by: message, exchange, now: now) else { return [] }
            return check(lease)
        case .nak:
            avoided.insert(offer.server, until: now + Search.avoidedFor)
            return refused(message, now: now)
        case .discover, .offer, .request, .decline, .release, .inform: return []
        }
    }

    private mutating func receivedAnswer(
        _ type: DHCPMessageType, _ message: DHCPMessage, toRebootWith address: IPv4Address, _ exchange: DHCPExchange,
        now: Instant
    ) -> [Action] {
        switch type {
        case .ack:
            guard let lease = acknowledged(address, by: message, exchange, now: now) else { return [] }
            return check(lease)
        case .nak: return refused(message, now: now)
        case .discover, .offer, .request, .decline, .release, .inform: return []
        }
    }

    private mutating func receivedAnswer(
        _ type: DHCPMessageType, _ message: DHCPMessage, toRenewalOf old: DHCPLease, _ exchange: DHCPExchange,
        now: Instant
    ) -> [Action] {
        switch type {
        case .ack:
            guard let lease = acknowledged(old.address, by: message, exchange, now: now) else { return [] }
            state = .bound(lease)
            return [.bound(lease)]
        case .nak: return refused(message, now: now)
        case .discover, .offer, .request, .decline, .release, .inform: return []
        }
    }

    /// Returns the acknowledged lease, or nil if it is invalid, has a different address, or has already expired.
    private mutating func acknowledged(
        _ address: IPv4Address, by message: DHCPMessage, _ exchange: DHCPExchange, now: Instant
    ) -> DHCPLease? {
        guard message.yourAddress == address, var lease = DHCPLease(message, obtained: exchange.began),
            lease.expires.map({ now < $0 }) ?? true
        else { return nil }
        lease.spreadRenewal(using: &random)
        return lease
    }

    private mutating func check(_ lease: DHCPLease) -> [Action] {
        state = .checking(lease)
        return [.check(lease)]
    }

    /// Handles a NAK: the address is not ours, and the search restarts without requesting it. A NAK without a server
    /// identifier is ignored.
    private mutating func refused(_ message: DHCPMessage, now: Instant) -> [Action] {
        guard message.options.serverIdentifier != nil else { return [] }
        let actions = giveUpLease(.refused)
        candidate = nil
        return actions + failed(now: now)
    }
}
