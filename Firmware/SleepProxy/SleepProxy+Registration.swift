import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery

/// Registrations: decode, check, verify, answer.
extension SleepProxy {
    mutating func register(_ bytes: [UInt8], from peer: Peer, now: Instant) {
        // Without an answer, so that a flood of registrations causes no flood of answers.
        guard registrationBucket.take(now: now) else { return noteRefusal(.tooFrequent, from: peer, now: now) }
        let registration: SleepRegistration
        do throws(SleepRegistrationError) {
            registration = try SleepRegistration(decoding: bytes)
        } catch {
            return refuse(error, bytes, from: peer, now: now)
        }
        let lease = min(registration.lease, limits.lease)
        let request = Verification.Request(id: registration.id, peer: peer, lease: lease)
        let card = registration.owner.card
        // A host repeats its message until it receives the answer, which follows.
        if let current = verifications[card], current.contains(request) { return }
        do throws(RefusalReason) {
            try accept(registration, request, now: now)
        } catch {
            refuse(error, [request], now: now)
        }
    }

    private mutating func accept(
        _ registration: SleepRegistration, _ request: Verification.Request, now: Instant
    ) throws(RefusalReason) {
        let owner = registration.owner
        guard let link else { throw .noLink }
        guard isCard(owner.card, on: link), isCard(owner.primary, on: link) else { throw .badCard }
        let known = sleepers[owner.card]
        let current = verifications[owner.card]
        for sequence in [known?.owner.sequence, current?.owner.sequence].compactMap({ $0 })
        where owner.sequence != sequence && !owner.isNewer(than: sequence) {
            throw .olderSequence
        }
        // Messages with the same sequence number are parts of one registration.
        let earlier =
            current.flatMap { $0.owner.sequence == owner.sequence ? $0.records : nil }
            ?? known.flatMap { $0.owner.sequence == owner.sequence ? $0.records : nil }
        let records = try SleeperRecords(registration.records, after: earlier, limits: limits)
        try check(records, of: owner, from: request.peer, on: link, now: now)
        if let known, known.owner.sequence == owner.sequence, known.records == records, current == nil {
            // The first answer was lost. A replayed message must not extend the lease, so nothing changes.
            return answer(request, .success, lease: remainingLease(of: known, now: now))
        }
        try verify(records, of: owner, request, now: now)
    }

    private func isCard(_ address: MACAddress, on link: ProxyLink) -> Bool {
        address != .zero && !address.isGroup && address != link.hardware
    }

    /// Checks the addresses and the names.
    private func check(
        _ records: SleeperRecords, of owner: OwnerOption, from peer: Peer, on link: ProxyLink, now: Instant
    ) throws(RefusalReason) {
        if let objection = objection(to: records, on: link) { throw objection }
        guard records.addresses.contains(peer.address) else { throw .sourceNotRegistered }
        for address in records.addresses {
            if let other = sleepers.sleeper(at: address), other.owner.card != owner.card {
                throw .addressOfAnotherSleeper
            }
        }
        for name in records.names {
            if let other = sleepers.sleeper(named: name), other.owner.card != owner.card { throw .nameOfAnotherSleeper }
            if heldNames.holder(of: name, for: records.addresses, now: now) == .other { throw .nameOfAnotherHost }
        }
    }

    /// Returns the reason why the proxy must not represent these records on the link, or nil.
    func objection(to records: SleeperRecords, on link: ProxyLink) -> RefusalReason? {
        for address in records.addresses {
            if let reason = link.objection(to: address) { return reason }
        }
        return records.names.contains(where: link.names.contains) ? .ownName : nil
    }

    /// Starts or extends the verification.
    private mutating func verify(
        _ records: SleeperRecords, of owner: OwnerOption, _ request: Verification.Request, now: Instant
    ) throws(RefusalReason) {
        if var current = verifications[owner.card], current.owner.sequence == owner.sequence {
            guard current.requests.count < limits.messages else { throw .tooManyMessages }
            current.add(request, records: records, now: now)
            verifications[owner.card] = current
        } else {
            guard sleepers[owner.card] != nil || sleepers.count + verifications.count < limits.sleepers else {
                throw .tooManySleepers
            }
            guard verifications[owner.card] != nil || verifications.count < limits.verifications else {
                throw .tooManyVerifications
            }
            verifications[owner.card] = Verification(owner: owner, records: records, request: request, now: now)
        }
    }

    mutating func performDueVerifications(now: Instant) {
        let due = verifications.filter { $0.value.nextDeadline <= now }.keys.sorted { $0.rawValue < $1.rawValue }
        for card in due {
            guard var verification = verifications[card] else { continue }
            let outcome = verification.step(limits: limits, now: now)
            verifications[card] = verification
            switch outcome {
            case .ask(let addresses): for address in addresses { ask(address) }
            case .verified: complete(verification, now: now)
            case .failed(let reason): fail(card, reason, now: now)
            case nil: break
            }
        }
    }

    /// Handles evidence that a card has an address.
    mutating func answered(_ address: IPAddress, by card: MACAddress, now: Instant) {
        let concerned = verifications.filter { $0.value.records.addresses.contains(address) }.keys
        for key in concerned.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard var verification = verifications[key] else { continue }
            let outcome = verification.answered(address, by: card)
            verifications[key] = verification
            if case .failed(let reason) = outcome { fail(key, reason, now: now) }
        }
    }

    mutating func fail(_ card: MACAddress, _ reason: RefusalReason, now: Instant) {
        guard let verification = verifications.removeValue(forKey: card) else { return }
        refuse(reason, verification.requests, now: now)
    }

    /// Publishes the records of a verified host.
    private mutating func complete(_ verification: Verification, now: Instant) {
        let owner = verification.owner
        verifications[owner.card] = nil
        do throws(RefusalReason) {
            // Another host may have completed its registration meanwhile. Verifications do not exclude each other, so that
            // a host cannot block the registration of a different one.
            guard let link, let peer = verification.requests.first?.peer else { throw .noLink }
            try check(verification.records, of: owner, from: peer, on: link, now: now)
        } catch {
            return refuse(error, verification.requests, now: now)
        }
        let lease = verification.requests.map(\.lease).max() ?? 0
        let expires = now + .seconds(Int64(lease))
        let check = SilenceCheck(first: now + limits.silenceInterval)
        let phase = Sleeper.Phase.settling(check, until: now + limits.settling)
        var sleeper = Sleeper(
            owner: owner, records: verification.records, registered: now, expires: expires, phase: phase)
        if let known = sleepers[owner.card] {
            // The groups of names that remain are changed, so that they need no new probes.
            sleeper.groups = known.groups.filter { sleeper.records.names.contains($0.key) }
            for (name, group) in known.groups.sorted(by: { $0.value < $1.value }) where sleeper.groups[name] == nil {
                output.append(.withdraw(group, goodbye: true))
            }
        }
        // The host is awake, even if none of its frames was seen.
        histories.ended(owner.card, now: now)
        // The records are published first, so that queries for them are answered as soon as possible.
        publish(&sleeper, isRestored: false, now: now)
        heldNames.forget(sleeper.records.names)
        sleepers.set(sleeper)
        for request in verification.requests { answer(request, .success, lease: request.lease) }
        counters.registrations += 1
        isChanged = true
        note(.registered(sleeper.identity, lease: lease))
    }

    private func remainingLease(of sleeper: Sleeper, now: Instant) -> UInt32 {
        UInt32(clamping: Int64((sleeper.expires - now).inSeconds))
    }

    private mutating func answer(
        _ request: Verification.Request, _ code: SleepRegistrationAnswer.Code, lease: UInt32? = nil
    ) {
        output.append(
            .answer(SleepRegistrationAnswer(id: request.id, code: code, lease: lease).encoded, to: request.peer))
    }

    private mutating func refuse(_ reason: RefusalReason, _ requests: [Verification.Request], now: Instant) {
        for request in requests { answer(request, reason.code) }
        if let peer = requests.first?.peer { noteRefusal(reason, from: peer, now: now) }
    }

    /// Refuses a datagram that is not a registration. A response is not answered, so that two proxies cannot answer each
    /// other forever.
    private mutating func refuse(_ error: SleepRegistrationError, _ bytes: [UInt8], from peer: Peer, now: Instant) {
        let (reason, code): (RefusalReason, SleepRegistrationAnswer.Code) =
            switch error {
            case .malformed, .sections: (.malformed, .formatError)
            case .notAnUpdate: (.notAnUpdate, .notImplemented)
            case .missingOwner: (.missingOwner, .formatError)
            case .missingLease: (.missingLease, .formatError)
            }
        noteRefusal(reason, from: peer, now: now)
        guard bytes.count >= 12, bytes[2] & 0x80 == 0 else { return }
        let id = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        output.append(.answer(SleepRegistrationAnswer(id: id, code: code).encoded, to: peer))
    }
}

extension RefusalReason {
    /// The code in the answer.
    var code: SleepRegistrationAnswer.Code {
        switch self {
        case .malformed, .missingOwner, .missingLease, .badCard, .recordClass, .lifetime, .noAddress: .formatError
        case .notAnUpdate: .notImplemented
        case .recordType, .domain, .foreignTarget, .tooManyRecords, .tooManyBytes, .tooManyNames, .tooManyPorts,
            .tooManyAddresses, .tooManyMessages, .ownAddress, .infrastructureAddress, .addressNotUnicast,
            .addressNotOnLink, .addressOfAnotherSleeper, .sourceNotRegistered, .noAnswer, .answerOfAnotherCard,
            .olderSequence, .tooManySleepers, .tooFrequent:
            .refused
        case .ownName, .nameOfAnotherSleeper, .nameOfAnotherHost: .nameExists
        case .tooManyVerifications, .noLink: .serverFailure
        }
    }
}

extension RefusalReason: Error {}
