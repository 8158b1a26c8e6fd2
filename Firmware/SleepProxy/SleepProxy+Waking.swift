import DNSWire
import ProtocolCore
import ServiceDiscovery

/// The states of sleepers: silence, sleep, wake-up and return.
extension SleepProxy {
    /// Performs the step of a sleeper that is due.
    mutating func step(_ card: MACAddress, now: Instant) {
        guard let sleeper = sleepers[card] else { return }
        switch sleeper.phase {
        case .recovering(let check), .settling(let check, _): checkSilence(sleeper, check, now: now)
        case .asleep(var announcements):
            guard now < sleeper.expires else { return endLease(sleeper, now: now) }
            guard announcements.step(limits: limits, now: now), let link else { return }
            sleepers.setPhase(.asleep(announcements), of: card)
            for address in sleeper.records.addresses { announce(address, of: link.hardware) }
        case .waking(var attempts):
            let result = attempts.step(limits: limits, now: now)
            sleepers.setPhase(.waking(attempts), of: card)
            switch result {
            case .send: sendMagicPackets(to: sleeper.owner)
            case .failed: didNotWake(sleeper, attempts, now: now)
            case nil: break
            }
        }
    }

    private mutating func checkSilence(_ sleeper: Sleeper, _ check: SilenceCheck, now: Instant) {
        let card = sleeper.owner.card
        guard now < sleeper.expires else {
            counters.expirations += 1
            note(.expired(sleeper.identity))
            return release(card, goodbye: true, correctsNeighbors: false, now: now)
        }
        if case .settling(_, let until) = sleeper.phase, now >= until {
            note(.stillAwake(sleeper.identity))
            return release(card, goodbye: false, correctsNeighbors: false, now: now)
        }
        var check = check
        let result = check.step(limits: limits, now: now)
        setCheck(check, of: sleeper)
        switch result {
        case .ask: for address in sleeper.records.addresses { ask(address) }
        case .silent: fallAsleep(card, now: now)
        case nil: break
        }
    }

    private mutating func setCheck(_ check: SilenceCheck, of sleeper: Sleeper) {
        switch sleeper.phase {
        case .recovering: sleepers.setPhase(.recovering(check), of: sleeper.owner.card)
        case .settling(_, let until): sleepers.setPhase(.settling(check, until: until), of: sleeper.owner.card)
        case .asleep, .waking: break
        }
    }

    /// The host is silent. From now on the proxy answers for its addresses.
    private mutating func fallAsleep(_ card: MACAddress, now: Instant) {
        guard var sleeper = sleepers[card] else { return }
        if case .recovering = sleeper.phase { publish(&sleeper, isRestored: true, now: now) }
        sleeper.phase = .asleep(Announcements(limits: limits, now: now))
        sleepers.set(sleeper)
        histories.fellAsleep(sleeper.identity, sleeper.records.addresses, now: now)
        note(.asleep(sleeper.identity))
        planHandover(now: now)
        step(card, now: now)
    }

    /// A frame or a message of this card arrived, so its host is awake.
    mutating func noticed(_ card: MACAddress, now: Instant) {
        guard let sleeper = sleepers[card] else { return }
        switch sleeper.phase {
        case .settling(var check, let until):
            check.heard(limits: limits, now: now)
            sleepers.setPhase(.settling(check, until: until), of: card)
        case .recovering, .asleep, .waking: returned(card, now: now)
        }
    }

    /// The host is awake. Everything is released at once and without a goodbye.
    mutating func returned(_ card: MACAddress, now: Instant) {
        guard let sleeper = sleepers[card] else { return }
        switch sleeper.phase {
        case .waking(let attempts):
            counters.returns += 1
            let isHandover = attempts.cause == .betterProxy
            note(isHandover ? .handedOver(sleeper.identity) : .awake(sleeper.identity, after: now - attempts.started))
        case .recovering, .settling, .asleep: note(.awake(sleeper.identity, after: nil))
        }
        release(card, goodbye: false, correctsNeighbors: true, now: now)
    }

    /// Wakes a sleeper if the budget permits. The proxy continues to answer for its addresses: clients that connect must
    /// not lose the address while the host wakes up. Their packets reach the host after its return, when the caches of
    /// the neighbours point to its card again.
    mutating func wake(_ card: MACAddress, _ cause: WakeCause, now: Instant) {
        guard let sleeper = sleepers[card], case .asleep = sleeper.phase else { return }
        guard budget.spend(card, cause, now: now) else {
            counters.suppressedWakes += 1
            return
        }
        counters.wakes[cause, default: 0] += 1
        histories.woke(sleeper.identity, cause, now: now)
        sleepers.setPhase(.waking(WakeAttempts(cause, now: now)), of: card)
        // The first packet is sent before anything else.
        step(card, now: now)
        note(.waking(sleeper.identity, cause))
    }

    /// Removes a host whose name or address another host has, before the proxy answers for it. The host may sleep
    /// already, so it is woken, to register again.
    mutating func dismiss(_ sleeper: Sleeper, _ reason: RefusalReason, _ cause: WakeCause, now: Instant) {
        note(.removed(sleeper.identity, reason))
        if budget.spend(sleeper.owner.card, cause, now: now) {
            counters.wakes[cause, default: 0] += 1
            histories.woke(sleeper.identity, cause, now: now)
            sendMagicPackets(to: sleeper.owner)
        } else {
            counters.suppressedWakes += 1
        }
        release(sleeper.owner.card, goodbye: false, correctsNeighbors: false, now: now)
    }

    /// Sends the magic packet twice: to the broadcast address, because some switches forward only broadcasts to a port
    /// whose card sleeps, and to the sleeper's card, because some cards ignore broadcasts.
    mutating func sendMagicPackets(to owner: OwnerOption) {
        guard let link else { return }
        let packet = MagicPacket(card: owner.card, password: owner.password)
        output.append(.send(packet.frame(from: link.hardware)))
        output.append(.send(packet.frame(from: link.hardware, to: owner.card)))
    }

    private mutating func didNotWake(_ sleeper: Sleeper, _ attempts: WakeAttempts, now: Instant) {
        counters.failedWakes += 1
        note(.didNotWake(sleeper.identity, attempts.cause))
        switch attempts.cause {
        case .leaseEnd: expire(sleeper, now: now)
        case .connection, .datagram, .addressConflict, .nameConflict, .betterProxy, .disabled:
            sleepers.setPhase(.asleep(Announcements(limits: limits, now: now)), of: sleeper.owner.card)
            // The lease may have ended meanwhile.
            step(sleeper.owner.card, now: now)
        }
    }

    /// Wakes the host so that it registers again, as Apple's proxy does. If it does not return, its records expire.
    private mutating func endLease(_ sleeper: Sleeper, now: Instant) {
        let card = sleeper.owner.card
        wake(card, .leaseEnd, now: now)
        if let remaining = sleepers[card], case .asleep = remaining.phase { expire(remaining, now: now) }
    }

    private mutating func expire(_ sleeper: Sleeper, now: Instant) {
        counters.expirations += 1
        note(.expired(sleeper.identity))
        release(sleeper.owner.card, goodbye: true, correctsNeighbors: false, now: now)
    }

    mutating func performDueCorrections(now: Instant) {
        for card in corrections.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard var correction = corrections[card] else { continue }
            for address in correction.step(limits: limits, now: now) { announce(address, of: card) }
            corrections[card] = correction.next == nil ? nil : correction
        }
    }

    /// Compares this proxy with the others.
    mutating func compare(with names: [SleepProxyName], now: Instant) {
        let isBetterPresent = names.contains { $0.metrics < metrics }
        guard isBetterPresent != handover.isBetterPresent else { return }
        handover = Handover()
        handover.isBetterPresent = isBetterPresent
        if isBetterPresent { handover.next = now + limits.handover }
    }

    /// Schedules the handover of a sleeper that fell asleep after the others were handed over.
    private mutating func planHandover(now: Instant) {
        guard handover.isBetterPresent, handover.next == nil else { return }
        handover.next = now + limits.handover
    }

    mutating func performDueHandover(now: Instant) {
        guard let due = handover.next, now >= due else { return }
        let waiting = sleepers.ordered.filter { sleeper in
            if case .asleep = sleeper.phase { !handover.woken.contains(sleeper.owner.card) } else { false }
        }
        handover.next = waiting.isEmpty ? nil : now + limits.handoverInterval
        for card in waiting.map(\.owner.card) {
            wake(card, .betterProxy, now: now)
            // A wake that the budget suppressed is repeated later.
            if case .asleep? = sleepers[card]?.phase { continue }
            if handover.woken.count >= limits.rememberedHosts { handover.woken.removeFirst() }
            handover.woken.insert(card)
            break
        }
    }
}
