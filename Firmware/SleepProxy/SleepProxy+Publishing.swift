import DNSWire
import MulticastDNS
import ProtocolCore

/// The records of sleepers at the responder.
extension SleepProxy {
    /// Publishes the groups of a sleeper. Host names come first, because services require them.
    ///
    /// - Parameter isRestored: true after a restart. Another host may have claimed a name meanwhile, so all names are
    ///   probed.
    mutating func publish(_ sleeper: inout Sleeper, isRestored: Bool, now: Instant) {
        let groups = sleeper.records.groups
        for group in groups where sleeper.groups[group.name] == nil { sleeper.groups[group.name] = makeGroup() }
        let option = OptionsRecord(options: [.owner(sleeper.owner)]).record
        for group in groups {
            guard let id = sleeper.groups[group.name] else { continue }
            let holder = heldNames.holder(of: group.name, for: sleeper.records.addresses, now: now)
            let content = RecordGroup(
                name: group.name, unique: group.unique, shared: group.shared, answeredOnly: group.answeredOnly,
                requires: group.requiredHost.flatMap { sleeper.groups[$0] }, option: option, interface: link?.interface)
            output.append(.publish(id, content, isVerified: !isRestored && isOwn(group, holder)))
        }
    }

    /// Returns true if the name needs no probe: only the sleeper announced it, or it is the reverse name of an address
    /// that the sleeper was verified to have.
    private func isOwn(_ group: SleeperRecords.Group, _ holder: HeldNames.Holder) -> Bool {
        switch holder {
        case .registrant: true
        case .other: false
        case .unknown: group.unique.allSatisfy { $0.type == .ptr }
        }
    }

    mutating func withdrawGroups(of sleeper: inout Sleeper, goodbye: Bool) {
        // Services first: a host name without its services is harmless, a service without its host is not.
        for id in sleeper.groups.values.sorted(by: >) { output.append(.withdraw(id, goodbye: goodbye)) }
        sleeper.groups = [:]
    }

    /// Removes a sleeper and everything that represents it.
    ///
    /// - Parameters:
    ///   - goodbye: true if the host does not return soon. A host that is awake announces its records itself.
    ///   - correctsNeighbors: true if the neighbours' caches must point to the host's card again.
    mutating func release(_ card: MACAddress, goodbye: Bool, correctsNeighbors: Bool, now: Instant) {
        guard var sleeper = sleepers.remove(card) else { return }
        histories.ended(card, now: now)
        withdrawGroups(of: &sleeper, goodbye: goodbye)
        if correctsNeighbors, sleeper.mayBeCached {
            corrections[card] = NeighborCorrection(
                card: card, addresses: sleeper.records.addresses, limits: limits, now: now)
        }
        isChanged = true
    }

    /// The responder lost a name to another host. The sleeper is woken to find a new name, as Apple's proxy does.
    mutating func lose(_ group: GroupID, now: Instant) {
        guard var sleeper = sleepers.sleeper(with: group) else { return }
        let card = sleeper.owner.card
        output.append(.withdraw(group, goodbye: false))
        sleeper.groups = sleeper.groups.filter { $0.value != group }
        sleepers.set(sleeper)
        switch sleeper.phase {
        case .asleep: wake(card, .nameConflict, now: now)
        case .settling: dismiss(sleeper, .nameOfAnotherHost, .nameConflict, now: now)
        case .recovering, .waking: break
        }
    }

    /// Learns the holders of names, and notices sleepers that send messages again.
    mutating func hear(_ message: InboundMessage, now: Instant) {
        guard let link, message.interface == link.interface,
            !link.addresses.contains(where: { $0.address == message.source.address })
        else { return }
        if let owner = (try? message.message.optionsRecord())?.owner {
            // A newer number means that the host is awake, or sleeps again and registered with a different proxy.
            for sleeper in sleepers.sleepers(of: owner.primary) where owner.isNewer(than: sleeper.owner.sequence) {
                returned(sleeper.owner.card, now: now)
            }
        }
        if let sleeper = sleepers.sleeper(at: message.source.address) { noticed(sleeper.owner.card, now: now) }
        // The names of a host that has just returned are no longer those of a sleeper.
        let sleepers = sleepers
        heldNames.learn(from: message, now: now) { sleepers.sleeper(named: $0) == nil }
    }
}
