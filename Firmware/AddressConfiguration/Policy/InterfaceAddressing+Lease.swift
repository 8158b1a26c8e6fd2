import DNSWire
import ProtocolCore

/// Manages the lease of a DHCP server (RFC 2131) or the owner's address, probed and defended like any address (RFC 5227).
extension InterfaceAddressing {
    var leaseDeadline: Instant? {
        switch lease {
        case .none: nil
        case .checking(_, let claim), .bound(_, let claim): claim.nextDeadline
        }
    }

    /// True if a lease is bound and the kernel has not rejected its address. While this is false, the interface needs a
    /// link-local address.
    var isLeaseUsable: Bool {
        switch lease {
        case .none, .checking: false
        case .bound(let lease, _): !interface.isRefused(lease.address)
        }
    }

    mutating func advanceLease(now: Instant) { claimLease(now: now) { $0.deadlineReached(now: now) } }

    mutating func heardForLease(_ packet: ARPPacket, now: Instant) {
        claimLease(now: now) { $0.received(packet, now: now) }
    }

    private mutating func claimLease(now: Instant, _ step: (inout AddressClaim) -> AddressClaim.Outcome) {
        switch lease {
        case .none: break
        case .checking(let lease, var claim):
            let outcome = step(&claim)
            self.lease = .checking(lease, claim)
            handle(outcome, of: claim, wasUsable: false, now: now)
        case .bound(let lease, var claim):
            let outcome = step(&claim)
            self.lease = .bound(lease, claim)
            handle(outcome, of: claim, wasUsable: true, now: now)
        }
    }

    private mutating func handle(_ outcome: AddressClaim.Outcome, of claim: AddressClaim, wasUsable: Bool, now: Instant)
    {
        outbox += outcome.packets.map { .sendARP($0) }
        switch outcome.result {
        case nil: break
        case .usable: tellSource(.addressChecked, now: now)
        case .defended(let other):
            conflicts += 1
            outbox.append(.notice(.defended(claim.address, against: other)))
        case .conflict(let other):
            countConflict(about: claim.address, with: other)
            if wasUsable { outbox.append(.notice(.gaveUp(claim.address))) }
            // A DHCP client declines the address and requests another one.
            tellSource(.addressInConflict, now: now)
            lease = .none
            lingering.remove(claim.address)
            forgetRefusedLease()
        }
    }

    mutating func tellSource(_ event: DHCPClient.Event, now: Instant) {
        for action in source.handle(event, now: now) {
            switch action {
            case .broadcast(let message): outbox.append(.broadcastDHCP(message))
            case .send(let message, let source, let server):
                outbox.append(.sendDHCP(message, from: source, to: server))
            case .check(let lease): check(lease, now: now)
            case .bound(let lease): bind(lease)
            case .lost(let end): lose(end)
            }
        }
        forgetRefusedLease()
    }

    /// Forgets a lease that a server refused or whose address another host has. It is not requested again, not even
    /// after a restart, and its address serves no connections any longer.
    private mutating func forgetRefusedLease() {
        guard case .none = lease, !source.hasCandidate else { return }
        memory.lease = nil
        stopLingering { !$0.isLinkLocal }
    }

    private mutating func check(_ lease: DHCPLease, now: Instant) {
        self.lease = .checking(
            lease,
            AddressClaim(lease.address, hardware: hardware, timing: .leased, random: random.split(), now: now))
        // If the server assigned a different address than before, the previous one stops lingering.
        stopLingering { !$0.isLinkLocal && $0 != lease.address }
    }

    private mutating func bind(_ new: DHCPLease) {
        switch lease {
        case .checking(_, let claim) where claim.isUsable && claim.address == new.address:
            lease = .bound(new, claim)
            outbox.append(.notice(obtained(new)))
        case .bound(let old, let claim) where claim.address == new.address:
            lease = .bound(new, claim)
            if old.server != new.server {
                outbox.append(.notice(obtained(new)))
            }
        case .none, .checking, .bound:
            preconditionFailure("the DHCP client is bound to \(new.address), which was not checked")
        }
        memory.lease = RememberedLease(address: new.address, server: new.server)
        lingering.remove(new.address)
    }

    private func obtained(_ new: DHCPLease) -> AddressingNotice {
        if case .owner = source { return .fixed(new.address) }
        return .leased(new.address, server: new.server, for: new.duration)
    }

    private mutating func lose(_ end: AddressingNotice.LeaseEnd) {
        if case .bound(let old, _) = lease { outbox.append(.notice(.leaseLost(old.address, end))) }
        lease = .none
        if end != .linkLost { stopLingering { !$0.isLinkLocal } }
    }
}

extension IPv4Address {
    /// True for addresses in 169.254/16 (RFC 3927 §2.1).
    var isLinkLocal: Bool { IPAddress.v4(self).isLinkLocal }
}
