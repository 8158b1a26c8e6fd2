import DNSWire
import ProtocolCore

/// Adds, changes and removes groups and interfaces.
extension Responder {
    mutating func publish(_ id: GroupID, _ content: RecordGroup, now: Instant, _ actions: inout [Action]) {
        guard let old = groups[id] else {
            groups[id] = PublishedGroup(content: content)
            index(content, id)
            for interface in orderedInterfaces { startProbing(id, on: interface, now: now) }
            return
        }
        guard old.content != content else { return }
        former.remember(old.content.unique, now: now)
        forgetIndex(old.content, id)
        index(content, id)
        if old.content.name == content.name {
            update(id, from: old.content, to: content, now: now, &actions)
        } else {
            sayGoodbye([id], &actions)
            groups[id]?.content = content
            groups[id]?.isReported = false
            for interface in orderedInterfaces {
                forgetAnswers(id, on: interface)
                startProbing(id, on: interface, now: now)
            }
        }
    }

    /// Announces the new data of a claimed name and sends goodbyes for removed shared records (RFC 6762 §8.4).
    private mutating func update(
        _ id: GroupID, from old: RecordGroup, to new: RecordGroup, now: Instant, _ actions: inout [Action]
    ) {
        groups[id]?.content = new
        let gone = old.shared.filter { !new.shared.contains($0) }
        guard let announcement = groups[id]?.updates.next(now: now) else { return }
        for interface in orderedInterfaces where isClaimed(id, on: interface) {
            forgetAnswers(id, on: interface) { old.records($0, on: $1) != new.records($0, on: $1) }
            if !gone.isEmpty { sendGoodbyes(gone, on: interface, &actions) }
            // If the host has just changed its name, it must claim the new one before a service points to it.
            let isReady = isClaimed(new.requires, on: interface)
            setClaim(isReady ? .announcing(sent: 0, next: announcement) : .waiting, of: id, on: interface)
        }
    }

    mutating func withdraw(_ id: GroupID, _ actions: inout [Action]) {
        guard let group = groups[id] else { return }
        sayGoodbye([id], &actions)
        forgetIndex(group.content, id)
        groups[id] = nil
        for interface in orderedInterfaces { forgetAnswers(id, on: interface) }
    }

    mutating func stop(_ actions: inout [Action]) {
        sayGoodbye(groups.keys.sorted(), &actions)
        groups = [:]
        owners = [:]
        claimDeadline = nil
        for interface in orderedInterfaces {
            guard let network = attachments[interface]?.network else { continue }
            attachments[interface] = Attachment(network: network)
        }
    }

    /// Adds or changes an interface. An interface without a usable address is detached, and probing begins when it has
    /// one.
    mutating func attach(_ network: NetworkInterface, now: Instant, _ actions: inout [Action]) {
        guard !network.families.isEmpty else { return detach(network.id, now: now, &actions) }
        guard let old = attachments[network.id]?.network else {
            attachments[network.id] = Attachment(network: network)
            for id in groups.keys.sorted() { startProbing(id, on: network.id, now: now) }
            return updateSiblings(now: now, &actions)
        }
        var network = network
        network.siblings = old.siblings
        guard old != network else { return }
        change(to: network, now: now, &actions)
        updateSiblings(now: now, &actions)
    }

    /// Changes the addresses that an attached interface has or publishes.
    mutating func change(to network: NetworkInterface, now: Instant, _ actions: inout [Action]) {
        guard let old = attachments[network.id]?.network else { return }
        attachments[network.id]?.change(to: network)
        readdress(from: old, to: network, now: now, &actions)
    }

    /// Announces the new address records and sends goodbyes for removed ones. The names stay claimed. A new family gets
    /// all records.
    private mutating func readdress(
        from old: NetworkInterface, to network: NetworkInterface, now: Instant, _ actions: inout [Action]
    ) {
        let gone = old.published.filter { !network.published.contains($0) }
        let hasNewFamily = !network.families.isSubset(of: old.families)
        for id in groups.keys.sorted() {
            guard let group = groups[id] else { continue }
            let lost = group.content.publishesAddresses ? group.content.addressRecords(gone) : []
            former.remember(lost, now: now)
            guard isClaimed(id, on: network.id) else { continue }
            forgetAnswers(id, on: network.id) { slot, _ in
                group.content.records(slot, on: old) != group.content.records(slot, on: network)
            }
            if !lost.isEmpty { sendGoodbyes(lost, on: network.id, &actions) }
            let hasChanged = group.content.publishesAddresses && Set(old.published) != Set(network.published)
            if hasNewFamily || hasChanged { setClaim(.announcing(sent: 0, next: now), of: id, on: network.id) }
        }
    }

    mutating func detach(_ interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let attachment = attachments.removeValue(forKey: interface) else { return }
        for id in groups.keys.sorted() {
            groups[id]?.claims[interface] = nil
            guard let content = groups[id]?.content, content.publishesAddresses else { continue }
            former.remember(content.addressRecords(attachment.network.published), now: now)
        }
        sharedLinks = sharedLinks.filter { !$0.contains(interface) }
        updateSiblings(now: now, &actions)
    }

    /// Restarts probing after a suspend, because other hosts may have joined the link (RFC 6762 §8).
    mutating func resume(now: Instant) {
        for id in groups.keys.sorted() {
            for interface in orderedInterfaces where groups[id]?.claims[interface] != .conflicted {
                startProbing(id, on: interface, now: now)
            }
        }
    }

    private mutating func index(_ content: RecordGroup, _ id: GroupID) {
        for name in content.ownerNames {
            var ids = owners[name] ?? []
            // Ids usually rise, so the new id is usually inserted at the end of the list.
            ids.insert(id, at: ids.lastIndex { $0 < id }.map { $0 + 1 } ?? 0)
            owners[name] = ids
        }
    }

    private mutating func forgetIndex(_ content: RecordGroup, _ id: GroupID) {
        for name in content.ownerNames {
            owners[name]?.removeAll { $0 == id }
            if owners[name]?.isEmpty == true { owners[name] = nil }
        }
    }

    private mutating func forgetAnswers(
        _ id: GroupID, on interface: InterfaceID,
        where hasChanged: (Answer.Slot, NetworkInterface) -> Bool = { _, _ in true }
    ) {
        guard let network = attachments[interface]?.network else { return }
        for family in IPFamily.allCases {
            attachments[interface]?.changeQueues(of: family) { $0.forget(id) { hasChanged($0, network) } }
        }
    }
}
