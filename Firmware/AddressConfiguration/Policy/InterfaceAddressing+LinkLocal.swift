import DNSWire
import ProtocolCore

/// Manages the link-local address (RFC 3927).
extension InterfaceAddressing {
    var linkLocalDeadline: Instant? {
        switch linkLocal {
        case .none: nil
        case .waiting(let until): until
        case .claiming(let claim), .held(let claim, _): claim.nextDeadline
        case .deprecated(let claim, _, let since):
            sooner(claim.nextDeadline, inUse.contains(claim.address) ? nil : since + Self.leastDeprecation)
        }
    }

    mutating func advanceLinkLocal(now: Instant) {
        if case .waiting(let until) = linkLocal, until <= now { linkLocal = .none }
        claimLinkLocal(now: now) { $0.deadlineReached(now: now) }
    }

    mutating func heardForLinkLocal(_ packet: ARPPacket, now: Instant) {
        claimLinkLocal(now: now) { $0.received(packet, now: now) }
    }

    private mutating func claimLinkLocal(now: Instant, _ step: (inout AddressClaim) -> AddressClaim.Outcome) {
        switch linkLocal {
        case .none, .waiting: break
        case .claiming(var claim):
            let outcome = step(&claim)
            linkLocal = .claiming(claim)
            handle(outcome, of: claim, usableSince: nil, now: now)
        case .held(var claim, let since):
            let outcome = step(&claim)
            linkLocal = .held(claim, since: since)
            handle(outcome, of: claim, usableSince: since, now: now)
        case .deprecated(var claim, let usableSince, let since):
            let outcome = step(&claim)
            linkLocal = .deprecated(claim, usableSince: usableSince, since: since)
            handle(outcome, of: claim, usableSince: usableSince, now: now)
        }
    }

    private mutating func handle(
        _ outcome: AddressClaim.Outcome, of claim: AddressClaim, usableSince: Instant?, now: Instant
    ) {
        outbox += outcome.packets.map { .sendARP($0) }
        switch outcome.result {
        case nil: break
        case .usable:
            linkLocal = .held(claim, since: now)
            lingering.remove(claim.address)
            memory.linkLocal = claim.address
            outbox.append(.notice(.claimed(claim.address)))
        case .defended(let other):
            conflicts += 1
            outbox.append(.notice(.defended(claim.address, against: other)))
        case .conflict(let other):
            countConflict(about: claim.address, with: other)
            if usableSince != nil { outbox.append(.notice(.gaveUp(claim.address))) }
            let wasLimited = selection.isLimited
            selection.conflict(usableSince: usableSince, now: now)
            if selection.isLimited, !wasLimited { outbox.append(.notice(.rateLimited)) }
            lingering.remove(claim.address)
            linkLocal = .none
        }
    }

    /// Starts or ends the link-local address. A usable lease makes the link-local address unnecessary, and the end of
    /// the lease makes it necessary again. A usable lease also ends a claim in progress, unless the claimed address
    /// carries a connection.
    mutating func weigh(now: Instant) {
        guard isLinkUp else { return }
        switch linkLocal {
        case .none where !isLeaseUsable:
            switch selection.choose(now: now) {
            case .wait(let until): linkLocal = .waiting(until: until)
            case .claim(let address):
                linkLocal = .claiming(
                    AddressClaim(
                        address, hardware: hardware, timing: .linkLocal, random: random.split(), now: now))
            }
        case .waiting where isLeaseUsable: linkLocal = .none
        case .claiming(let claim) where isLeaseUsable:
            let carries = lingering.contains(claim.address) && inUse.contains(claim.address)
            if !carries { linkLocal = .none }
        case .held(let claim, let since) where isLeaseUsable:
            linkLocal = .deprecated(claim, usableSince: since, since: now)
        case .deprecated(let claim, let usableSince, _) where !isLeaseUsable:
            linkLocal = .held(claim, since: usableSince)
        case .deprecated(let claim, _, let since):
            if now >= since + Self.leastDeprecation, !inUse.contains(claim.address) { linkLocal = .none }
        case .none, .waiting, .claiming, .held: break
        }
    }
}
