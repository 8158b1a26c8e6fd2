import DNSWire
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
        /// Withdraws a group with a goodbye.
        case withdraw(GroupID)
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

    var random: SeededRandom
    let sharesPort: Bool
    var attachments: [InterfaceID: Attachment] = [:]
    var groups: [GroupID: PublishedGroup] = [:]
    /// The groups per owner name, in the order of their ids.
    var owners: [Name: [GroupID]] = [:]
    var former = FormerRecords()
    /// Pairs of this host's interfaces that received each other's packets, so they are on one link.
    var sharedLinks: Set<Set<InterfaceID>> = []
    /// A time before which no claim is due; nil if no claim has a deadline.
    var claimDeadline: Instant?

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
        case .resumed: resume(now: now)
        case .publish(let id, let content): publish(id, content, now: now, &actions)
        case .withdraw(let id): withdraw(id, &actions)
        case .stop: stop(&actions)
        case .deadlineReached: break
        }
        advanceClaims(now: now, &actions)
        sendDueAnswers(now: now, &actions)
        return actions
    }

    public var nextDeadline: Instant? {
        attachments.values.reduce(claimDeadline) { sooner($0, $1.deadline) }
    }

    private mutating func receive(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        guard let attachment = attachments[inbound.interface], inbound.message.flags.operation == 0,
            inbound.message.flags.responseCode == 0,
            inbound.wasMulticast || attachment.network.isOnLink(inbound.source.address)
        else { return }
        if inbound.wasMulticast { noteSharedLink(inbound, now: now, &actions) }
        if inbound.message.flags.contains(.response) {
            // §6: a response from another port is not multicast DNS.
            guard inbound.source.port == RFC6762.port else { return }
            noteResponse(inbound, now: now, &actions)
        } else {
            breakTies(inbound, now: now)
            answer(inbound, now: now, &actions)
        }
    }

    /// The interfaces in the order of their ids, which makes runs repeatable.
    var orderedInterfaces: [InterfaceID] { attachments.keys.sorted() }

    /// Returns true if the record has content that this host publishes, or recently published, on any interface. It is
    /// then not a conflict (§9), even if it comes from another interface of this host on the same link or from another
    /// responder on this host.
    func isOwn(_ record: Record, of content: RecordGroup, now: Instant) -> Bool {
        if content.unique.contains(where: { $0.hasSameContent(as: record) }) { return true }
        if content.publishesAddresses, record.name == content.name,
            attachments.values.contains(where: { $0.network.published.contains { RecordData($0) == record.data } })
        {
            return true
        }
        return former.contains(record, now: now)
    }

    mutating func setClaim(_ claim: Claim, of id: GroupID, on interface: InterfaceID) {
        groups[id]?.claims[interface] = claim
        claimDeadline = sooner(claimDeadline, claim.deadline)
    }

    func isClaimed(_ id: GroupID?, on interface: InterfaceID) -> Bool {
        guard let id else { return true }
        return groups[id]?.claims[interface]?.isClaimed ?? false
    }
}
