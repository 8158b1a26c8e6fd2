public import DNSWire
public import ProtocolCore

/// The answering half of multicast DNS (RFC 6762 §6-§10). Claims names by probing, announces their records, answers
/// questions about them, defends them, and sends goodbyes.
///
/// IPv4 and IPv6 on one interface share a claim, since they reach the same hosts, but have separate queues of answers.
public struct Responder: Machine, Sendable {
    /// An event of the network, or a request of the owner.
    public enum Event: MachineEvent, Sendable {
        /// An interface was added, or its addresses changed.
        case interfaceChanged(NetworkInterface)
        case interfaceRemoved(InterfaceID)
        case received(InboundMessage)
        /// The host resumed after a suspend. Probing restarts for every name (RFC 6762 §8).
        case resumed
        /// Publishes a new group or changes one. With the same name its records are announced again (§8.4). With a new
        /// name the old records get a goodbye and probing starts for the new one.
        case publish(GroupID, RecordGroup)
        /// Publishes a group of a host that has claimed the name and now sleeps. Its records are announced without
        /// probing. A group that exists is changed as by `publish`.
        case takeOver(GroupID, RecordGroup)
        /// Withdraws a group with a goodbye.
        case withdraw(GroupID)
        /// Withdraws a group without a goodbye, because the host that it belongs to publishes it again.
        case handBack(GroupID)
        /// Sends a goodbye for everything immediately.
        case stop
        case deadlineReached
    }

    /// An action for the shell, or a report to the owner.
    public enum Action: Hashable, Sendable {
        case send(OutboundDatagram)
        /// Probing for the group's name has ended on every interface. It succeeded on at least one, where the name is
        /// announced.
        case claimed(GroupID)
        /// Another host has the name. The owner must publish the group under a new one.
        case conflicted(GroupID, by: Peer)
    }

    private var random: SeededRandom
    /// True if another program of this host has also opened port 5353.
    let sharesPort: Bool
    private(set) var networks = HostNetworks()
    private(set) var claims = ClaimTable()
    /// The waiting answers of each interface in ``networks``.
    private(set) var queues: [InterfaceID: AnswerQueues] = [:]

    /// Creates a responder without interfaces and groups. Random delays are drawn from `random`.
    ///
    /// - Parameter sharesPort: true if another program of this host has also opened port 5353. The responder then
    ///   requests no unicast answers, since the kernel may deliver them to that program (RFC 6762 §15.1).
    public init(random: SeededRandom, sharesPort: Bool = false) {
        self.random = random
        self.sharesPort = sharesPort
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .interfaceChanged(let network): attach(network, now: now, &actions)
        case .interfaceRemoved(let id): detach(id, now: now, &actions)
        case .received(let inbound): receive(inbound, now: now, &actions)
        case .resumed: claims.resume(on: networks.ids, now: now, &random)
        case .publish(let id, let content): publish(id, content, now: now, &actions)
        case .takeOver(let id, let content): takeOver(id, content, now: now, &actions)
        case .withdraw(let id): withdraw(id, &actions)
        case .handBack(let id): remove(id)
        case .stop: stop(&actions)
        case .deadlineReached: break
        }
        advanceClaims(now: now, &actions)
        sendDueAnswers(now: now, &actions)
        return actions
    }

    /// Returns the names of the groups whose ids are below `id`.
    public func names(before id: GroupID) -> Set<Name> {
        Set(claims.ids.filter { $0 < id }.compactMap { claims.content(of: $0)?.name })
    }

    /// Returns the records that this host announces on the interface, of the groups whose id is smaller. The addresses
    /// are first.
    public func announced(before id: GroupID, on interface: InterfaceID) -> [Record] {
        guard let network = networks[interface] else { return [] }
        let groups = claims.ids.filter { $0 < id && claims.isClaimed($0, on: interface) }
            .compactMap { claims.content(of: $0) }.filter { $0.isPublished(on: interface) }
        let hosts = groups.filter(\.publishesAddresses)
        let others = groups.filter { !$0.publishesAddresses }
        return (hosts + others).flatMap { $0.unique(on: network) + $0.shared }
    }

    public var nextDeadline: Instant? {
        queues.values.reduce(claims.deadline) { sooner($0, $1.deadline) }
    }

    // MARK: Packets

    private mutating func receive(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        guard let network = networks[inbound.interface], inbound.message.flags.operation == 0,
            inbound.message.flags.responseCode == 0,
            inbound.wasMulticast || network.isOnLink(inbound.source.address)
        else { return }
        if inbound.wasMulticast, networks.noteSharedLink(inbound) { updateSiblings(now: now, &actions) }
        if inbound.message.flags.contains(.response) {
            // §6: a response from another port is not multicast DNS.
            guard inbound.source.port == RFC6762.port else { return }
            for records in [inbound.message.answers, inbound.message.additionals] {
                for record in records { noteResponse(record, inbound, now: now, &actions) }
            }
        } else {
            claims.breakTies(inbound, on: networks, now: now)
            answer(inbound, now: now, &actions)
        }
    }

    /// Handles another host's record under one of our names: conflicts (§8.1, §9), answers that make ours unnecessary
    /// (§7.4), and our records that another host sends with too short a time to live (§6.6).
    private mutating func noteResponse(
        _ record: Record, _ inbound: InboundMessage, now: Instant, _ actions: inout [Action]
    ) {
        for id in claims.ids(under: record.name) {
            guard let (content, claim) = claims.published(id, on: inbound.interface) else { continue }
            if content.name == record.name, !claims.isOwn(record, of: content, on: networks, now: now) {
                if claims.noteForeign(record, of: id, inbound, on: networks, now: now, &random) {
                    actions.append(.conflicted(id, by: inbound.source))
                }
            } else if claim.isClaimed, inbound.wasMulticast {
                noteDuplicate(record, of: id, content, inbound, now: now)
            }
        }
    }

    private mutating func noteDuplicate(
        _ record: Record, of id: GroupID, _ content: RecordGroup, _ inbound: InboundMessage, now: Instant
    ) {
        let family = inbound.source.address.family
        guard let network = networks[inbound.interface],
            // Only a response that arrives while an answer waits, or that has a short time to live, can matter. For all
            // others the search is skipped, because one name may have hundreds of records.
            queues[inbound.interface]?.hasAnswers(family) == true
                || record.timeToLive < RFC6762.otherTimeToLive / 2,
            let (slot, own) = content.slot(of: record, on: network)
        else { return }
        let answer = Answer(group: id, slot: slot)
        if record.timeToLive >= own.timeToLive {
            // If the answer has several records, another host's copy of one record does not replace it.
            if content.records(slot, on: network).count == 1 {
                queues[inbound.interface]?.cancel(answer, in: family)
            }
        } else if record.timeToLive < own.timeToLive / 2 {
            queues[inbound.interface]?.correct(answer, in: family, now: now)
        }
    }

    /// Answers a query (§6), or queues its answers.
    private mutating func answer(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let message = inbound.message
        let family = inbound.source.address.family
        guard let network = networks[inbound.interface], network.families.contains(family),
            // Most questions on a link concern other hosts and need no further work.
            queues[inbound.interface]?.hasAnswers(family) == true
                || message.questions.contains(where: { claims.contains($0.name) })
        else { return }
        let known = KnownAnswers(message.answers)
        suppressQueued(known, inbound)
        if message.questions.isEmpty, message.flags.contains(.truncated) {
            let until = now + random.duration(in: RFC6762.truncatedAnswerDelay)
            queues[inbound.interface]?.hold(for: inbound.source, until: until)
            return
        }
        let selected = selectAnswers(to: inbound, knowing: known, now: now)
        if inbound.source.isLegacy {
            if !selected.multicast.isEmpty { answerLegacy(selected.multicast, inbound, &actions) }
        } else {
            queues[inbound.interface]?.schedule(selected, to: inbound, now: now, &random)
        }
    }

    /// Removes queued answers that the asker knows. Known answers may continue in packets without a question (§7.2).
    private mutating func suppressQueued(_ known: KnownAnswers, _ inbound: InboundMessage) {
        guard !known.isEmpty, let network = networks[inbound.interface] else { return }
        let claims = claims
        queues[inbound.interface]?.suppress(for: inbound.source) { known.cover(claims.records($0, on: network)) }
    }

    // MARK: Groups

    private mutating func publish(_ id: GroupID, _ content: RecordGroup, now: Instant, _ actions: inout [Action]) {
        guard let old = claims.content(of: id) else {
            claims.add(id, content)
            for interface in networks.ids { claims.startProbing(id, on: interface, now: now, &random) }
            return
        }
        guard old != content else { return }
        if old.name == content.name {
            update(id, from: old, to: content, now: now, &actions)
        } else {
            sayGoodbye([id], &actions)
            claims.replace(id, with: content, now: now)
            for interface in networks.ids {
                queues[interface]?.forget(id) { _ in true }
                claims.startProbing(id, on: interface, now: now, &random)
            }
        }
    }

    private mutating func takeOver(_ id: GroupID, _ content: RecordGroup, now: Instant, _ actions: inout [Action]) {
        guard claims.content(of: id) == nil else { return publish(id, content, now: now, &actions) }
        claims.add(id, content)
        for interface in networks.ids { claims.announceAgain(id, on: interface, at: now) }
    }

    /// Announces the new data of a claimed name and sends goodbyes for removed shared records (§8.4).
    private mutating func update(
        _ id: GroupID, from old: RecordGroup, to new: RecordGroup, now: Instant, _ actions: inout [Action]
    ) {
        claims.replace(id, with: new, now: now)
        let gone = old.shared.filter { !new.shared.contains($0) }
        guard let announcement = claims.nextUpdate(of: id, now: now) else { return }
        for interface in networks.ids where claims.isClaimed(id, on: interface) {
            guard let network = networks[interface] else { continue }
            queues[interface]?.forget(id) { old.records($0, on: network) != new.records($0, on: network) }
            if !gone.isEmpty { sendGoodbyes(gone, on: interface, &actions) }
            claims.announceAgain(id, on: interface, at: announcement)
        }
    }

    private mutating func withdraw(_ id: GroupID, _ actions: inout [Action]) {
        guard claims.content(of: id) != nil else { return }
        sayGoodbye([id], &actions)
        remove(id)
    }

    private mutating func remove(_ id: GroupID) {
        claims.remove(id)
        for interface in networks.ids { queues[interface]?.forget(id) { _ in true } }
    }

    private mutating func stop(_ actions: inout [Action]) {
        sayGoodbye(claims.ids, &actions)
        claims.removeAll()
        for interface in networks.ids { queues[interface] = networks[interface].map { AnswerQueues(network: $0) } }
    }

    // MARK: Interfaces

    /// Adds or changes an interface. An interface without a multicast family is detached, and probing begins when it
    /// has one.
    private mutating func attach(_ network: NetworkInterface, now: Instant, _ actions: inout [Action]) {
        guard !network.families.isEmpty else { return detach(network.id, now: now, &actions) }
        if let old = networks[network.id] {
            let network = network.with(siblings: old.siblings)
            guard old != network else { return }
            change(from: old, to: network, now: now, &actions)
        } else {
            networks.set(network)
            queues[network.id] = AnswerQueues(network: network)
            for id in claims.ids { claims.startProbing(id, on: network.id, now: now, &random) }
        }
        updateSiblings(now: now, &actions)
    }

    private mutating func detach(_ interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let network = networks.remove(interface) else { return }
        queues[interface] = nil
        claims.detach(network, now: now)
        updateSiblings(now: now, &actions)
    }

    /// Adds to each interface the addresses of the other interfaces on its link.
    private mutating func updateSiblings(now: Instant, _ actions: inout [Action]) {
        for network in networks.withNewSiblings() {
            guard let old = networks[network.id] else { continue }
            change(from: old, to: network, now: now, &actions)
        }
    }

    /// Changes the addresses that an attached interface has or publishes: announces the new address records and sends
    /// goodbyes for removed ones. The names stay claimed. If a family is new on the interface, all records are
    /// announced.
    private mutating func change(
        from old: NetworkInterface, to network: NetworkInterface, now: Instant, _ actions: inout [Action]
    ) {
        networks.set(network)
        queues[network.id]?.change(to: network)
        let gone = old.published.filter { !network.published.contains($0) }
        let hasNewFamily = !network.families.isSubset(of: old.families)
        for id in claims.ids {
            guard let content = claims.content(of: id) else { continue }
            let lost = content.publishesAddresses ? content.addressRecords(gone) : []
            claims.remember(lost, now: now)
            guard claims.isClaimed(id, on: network.id) else { continue }
            queues[network.id]?.forget(id) { content.records($0, on: old) != content.records($0, on: network) }
            if !lost.isEmpty { sendGoodbyes(lost, on: network.id, &actions) }
            let hasChanged = content.publishesAddresses && Set(old.published) != Set(network.published)
            if hasNewFamily || hasChanged { claims.announceNow(id, on: network.id, now: now) }
        }
    }

    // MARK: Deadlines

    private mutating func advanceClaims(now: Instant, _ actions: inout [Action]) {
        guard let deadline = claims.deadline, deadline <= now else { return }
        let (due, claimed) = claims.advance(on: networks.ids, now: now)
        for packets in due {
            if !packets.probes.isEmpty { sendProbes(packets.probes, on: packets.interface, &actions) }
            if !packets.announcements.isEmpty {
                announce(packets.announcements, on: packets.interface, now: now, &actions)
            }
        }
        actions += claimed.map { .claimed($0) }
    }

    /// Announces the groups' records (§8.3) on every family of the interface, except records that were multicast on the
    /// family within the last second (§6).
    private mutating func announce(
        _ ids: [GroupID], on interface: InterfaceID, now: Instant, _ actions: inout [Action]
    ) {
        guard let network = networks[interface] else { return }
        let answers = ids.map { id in
            claims.content(of: id)?.announcedSlots(on: network).map { Answer(group: id, slot: $0) } ?? []
        }
        var packed: (due: [[Answer]], packets: [[UInt8]]) = ([], [])
        for family in network.orderedFamilies {
            guard let due = queues[interface]?.allowed(answers, in: family, now: now) else { continue }
            // Both families usually get the same records.
            if due != packed.due { packed = (due, ResponsePacker.pack(due.compactMap { unit($0, on: network) })) }
            send(packed.packets, to: .multicast(family), on: interface, &actions)
            queues[interface]?.noteMulticast(due.joined(), in: family, now: now)
        }
    }

    private mutating func sendDueAnswers(now: Instant, _ actions: inout [Action]) {
        guard queues.values.contains(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
        for interface in networks.ids {
            guard let network = networks[interface] else { continue }
            for family in network.orderedFamilies {
                let due = queues[interface]?.takeDue(in: family, now: now) ?? []
                send(ResponsePacker.pack(units(for: due, on: network)), to: .multicast(family), on: interface, &actions)
            }
            for (asker, answers) in queues[interface]?.takeDueReplies(now: now) ?? [] {
                send(
                    ResponsePacker.pack(units(for: answers, on: network)),
                    to: .unicast(asker.address, port: asker.port), on: interface, &actions)
            }
        }
    }
}
