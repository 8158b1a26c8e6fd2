import DNSWire
import ProtocolCore

/// The published groups of records, with their claims on each interface (RFC 6762 §8, §9).
struct ClaimTable: Sendable {
    private struct PublishedGroup {
        var content: RecordGroup
        var claims: [InterfaceID: Claim] = [:]
        var conflicts = ConflictHistory()
        var updates = UpdateHistory()
        /// True if the owner was notified that this name is claimed.
        var isReported = false

        init(content: RecordGroup) { self.content = content }
    }

    /// The packets that are due on one interface.
    struct DuePackets {
        let interface: InterfaceID
        fileprivate(set) var probes: [(id: GroupID, isFirst: Bool)] = []
        fileprivate(set) var announcements: [GroupID] = []
    }

    private var groups: [GroupID: PublishedGroup] = [:]
    /// The groups per name of their records, in the order of the groups' ids.
    private var owners: [Name: [GroupID]] = [:]
    private var former = FormerRecords()
    /// The time of the first probe of the most recent probing per interface. Groups that start before it join the same
    /// packets.
    private var probeStarts: [InterfaceID: Instant] = [:]
    /// A time before which no claim is due; nil if no claim has a deadline.
    private(set) var deadline: Instant?

    /// The groups in the order of their ids.
    var ids: [GroupID] { groups.keys.sorted() }

    /// Returns the groups with records under this name, in the order of their ids.
    func ids(under name: Name) -> [GroupID] { owners[name] ?? [] }

    /// Returns true if a group has records under this name.
    func contains(_ name: Name) -> Bool { owners[name] != nil }

    func content(of id: GroupID) -> RecordGroup? { groups[id]?.content }

    /// Returns the records and the claim of a group on one interface.
    func published(_ id: GroupID, on interface: InterfaceID) -> (content: RecordGroup, claim: Claim)? {
        guard let group = groups[id], let claim = group.claims[interface] else { return nil }
        return (group.content, claim)
    }

    /// Returns true if this host owns the group's name on the interface, or if the id is nil.
    func isClaimed(_ id: GroupID?, on interface: InterfaceID) -> Bool {
        guard let id else { return true }
        return groups[id]?.claims[interface]?.isClaimed ?? false
    }

    func records(_ answer: Answer, on network: NetworkInterface) -> [Record] {
        groups[answer.group]?.content.records(answer.slot, on: network) ?? []
    }

    /// Returns true if the record has content that this host publishes, or recently published, on any interface. It is
    /// then not a conflict (§9), even if it comes from another interface of this host on the same link or from another
    /// responder on this host.
    func isOwn(_ record: Record, of content: RecordGroup, on networks: HostNetworks, now: Instant) -> Bool {
        if content.unique.contains(where: { $0.hasSameContent(as: record) }) { return true }
        if content.publishesAddresses, record.name == content.name, networks.containsPublished(record.data) {
            return true
        }
        return former.contains(record, now: now)
    }

    // MARK: Groups

    mutating func add(_ id: GroupID, _ content: RecordGroup) {
        groups[id] = PublishedGroup(content: content)
        index(content, id)
    }

    /// Replaces the group's records. A new name is reported when it is claimed.
    mutating func replace(_ id: GroupID, with content: RecordGroup, now: Instant) {
        guard let old = groups[id]?.content else { return }
        former.remember(old.unique, now: now)
        forgetIndex(old, id)
        index(content, id)
        groups[id]?.content = content
        if old.name != content.name { groups[id]?.isReported = false }
    }

    mutating func remove(_ id: GroupID) {
        guard let group = groups.removeValue(forKey: id) else { return }
        forgetIndex(group.content, id)
    }

    mutating func removeAll() {
        groups = [:]
        owners = [:]
        probeStarts = [:]
        deadline = nil
    }

    /// Ends the claims on a removed interface.
    mutating func detach(_ network: NetworkInterface, now: Instant) {
        probeStarts[network.id] = nil
        for id in ids {
            groups[id]?.claims[network.id] = nil
            guard let content = groups[id]?.content, content.publishesAddresses else { continue }
            former.remember(content.addressRecords(network.published), now: now)
        }
    }

    /// Remembers records that this host no longer publishes.
    mutating func remember(_ records: [Record], now: Instant) { former.remember(records, now: now) }

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

    // MARK: Claims

    /// Starts probing after a random wait (§8.1). Groups that start within the random wait of an earlier one join it, so
    /// that probing for hundreds of services needs few packets. After many conflicts a group waits for its own longer
    /// pause.
    mutating func startProbing(_ id: GroupID, on interface: InterfaceID, now: Instant, _ random: inout SeededRandom) {
        guard let group = groups[id], group.content.isPublished(on: interface) else { return }
        let pause = group.conflicts.pause
        if pause > .zero {
            setClaim(.probing(sent: 0, next: now + pause), of: id, on: interface)
            return
        }
        let start: Instant
        if let planned = probeStarts[interface], planned > now {
            start = planned
        } else {
            start = now + random.duration(in: RFC6762.probeWait)
            probeStarts[interface] = start
        }
        setClaim(.probing(sent: 0, next: start), of: id, on: interface)
    }

    /// Restarts probing after a suspend, because other hosts may have joined the link (§8).
    mutating func resume(on interfaces: [InterfaceID], now: Instant, _ random: inout SeededRandom) {
        for id in ids {
            for interface in interfaces where groups[id]?.claims[interface] != .conflicted {
                startProbing(id, on: interface, now: now, &random)
            }
        }
    }

    /// Returns the time at which changed records may be announced (§8.4), or nil if the group is unknown.
    mutating func nextUpdate(of id: GroupID, now: Instant) -> Instant? { groups[id]?.updates.next(now: now) }

    /// Announces the group's records again at this time. If the host has just changed its name, it must claim the new
    /// one before a service points to it.
    mutating func announceAgain(_ id: GroupID, on interface: InterfaceID, at time: Instant) {
        guard groups[id]?.content.isPublished(on: interface) == true else { return }
        let isReady = isClaimed(groups[id]?.content.requires, on: interface)
        setClaim(isReady ? .announcing(sent: 0, next: time) : .waiting, of: id, on: interface)
    }

    /// Announces the group's records again now, because the interface has new addresses or a new family.
    mutating func announceNow(_ id: GroupID, on interface: InterfaceID, now: Instant) {
        setClaim(.announcing(sent: 0, next: now), of: id, on: interface)
    }

    private mutating func setClaim(_ claim: Claim, of id: GroupID, on interface: InterfaceID) {
        groups[id]?.claims[interface] = claim
        deadline = sooner(deadline, claim.deadline)
    }

    /// Resolves simultaneous probes of two hosts for one name (§8.2).
    mutating func breakTies(_ inbound: InboundMessage, on networks: HostNetworks, now: Instant) {
        guard !inbound.message.authorities.isEmpty, let network = networks[inbound.interface] else { return }
        for question in inbound.message.questions {
            for id in ids(under: question.name) {
                guard let (content, claim) = published(id, on: inbound.interface), content.name == question.name else {
                    continue
                }
                let theirs = inbound.message.authorities.filter { $0.name == question.name }
                switch claim {
                case .probing, .waiting:
                    guard !theirs.isEmpty,
                        !theirs.allSatisfy({ isOwn($0, of: content, on: networks, now: now) }),
                        Tiebreak.isLost(ours: content.unique(on: network), theirs: theirs)
                    else { continue }
                    setClaim(.deferred(until: now + RFC6762.tiebreakWait), of: id, on: inbound.interface)
                case .deferred, .announcing, .announced, .conflicted:
                    continue
                }
            }
        }
    }

    /// Handles another host's record under the group's name. A goodbye is not a claim. An NSEC record is not a claim
    /// either: it only accompanies other records, and this host's own NSEC record differs per interface.
    ///
    /// - Returns: true if the other host has the name, so that the owner must choose a different one.
    mutating func noteForeign(
        _ record: Record, of id: GroupID, _ inbound: InboundMessage, on networks: HostNetworks, now: Instant,
        _ random: inout SeededRandom
    ) -> Bool {
        guard record.timeToLive > 0, record.type != .nsec, let network = networks[inbound.interface],
            let (content, claim) = published(id, on: inbound.interface)
        else { return false }
        switch claim {
        case .probing(sent: 0, _):
            // §8.1: a response from before the first probe may be stale. An owner of the name will object to the probe.
            return false
        case .probing, .deferred, .waiting:
            // A record of any type shows that the name is in use.
            groups[id]?.conflicts.note(now: now)
            for interface in networks.ids where groups[id]?.claims[interface]?.isClaimed == false {
                setClaim(.conflicted, of: id, on: interface)
            }
            return true
        case .announcing, .announced:
            // §6: a unicast response does not count here, because only a probe requests one.
            guard inbound.wasMulticast, content.unique(on: network).contains(where: { $0.type == record.type }) else {
                return false
            }
            // §9: both hosts return to probing, and the tiebreak or the other host's defence decides.
            groups[id]?.conflicts.note(now: now)
            startProbing(id, on: inbound.interface, now: now, &random)
            return false
        case .conflicted:
            return false
        }
    }

    // MARK: Steps

    /// Advances each due claim by one step.
    ///
    /// - Returns: the packets to send together per interface, and the groups whose probing has ended.
    mutating func advance(
        on interfaces: [InterfaceID], now: Instant
    ) -> (due: [DuePackets], claimed: [GroupID]) {
        let ids = ids
        let due = interfaces.map { advance(ids, on: $0, now: now) }
        deadline = groups.values.lazy.flatMap(\.claims.values).reduce(nil) { sooner($0, $1.deadline) }
        return (due, reportClaimed(ids))
    }

    private mutating func advance(_ ids: [GroupID], on interface: InterfaceID, now: Instant) -> DuePackets {
        var due = DuePackets(interface: interface)
        for id in ids {
            guard let claim = groups[id]?.claims[interface] else { continue }
            switch step(claim, of: id, on: interface, now: now) {
            case .nothing: break
            case .probe(let isFirst): due.probes.append((id, isFirst))
            case .announce: due.announcements.append(id)
            }
        }
        // Host names come first: groups that waited for one are announced in the same packet.
        let waiting = ids.filter { groups[$0]?.claims[interface] == .waiting }
        for id in waiting.filter({ groups[$0]?.content.requires == nil }) + waiting
        where groups[id]?.claims[interface] == .waiting {
            guard let content = groups[id]?.content, isClaimed(content.requires, on: interface) else { continue }
            groups[id]?.claims[interface] = .announcing(sent: 1, next: now + RFC6762.announcementInterval)
            groups[id]?.conflicts.succeeded()
            due.announcements.append(id)
        }
        return due
    }

    private enum Step {
        case nothing
        case probe(isFirst: Bool)
        case announce
    }

    private mutating func step(_ claim: Claim, of id: GroupID, on interface: InterfaceID, now: Instant) -> Step {
        guard let deadline = claim.deadline, deadline <= now else { return .nothing }
        switch claim {
        case .probing(let sent, _) where sent < RFC6762.probeCount:
            groups[id]?.claims[interface] = .probing(sent: sent + 1, next: now + RFC6762.probeInterval)
            return .probe(isFirst: sent == 0)
        case .deferred:
            groups[id]?.claims[interface] = .probing(sent: 1, next: now + RFC6762.probeInterval)
            return .probe(isFirst: true)
        case .probing:
            groups[id]?.claims[interface] = .waiting
            return .nothing
        case .announcing(let sent, _):
            let interval = RFC6762.announcementInterval * (1 << sent)
            groups[id]?.claims[interface] =
                sent + 1 < RFC6762.announcementCount
                ? .announcing(sent: sent + 1, next: now + interval) : .announced
            return .announce
        case .waiting, .announced, .conflicted:
            return .nothing
        }
    }

    private mutating func reportClaimed(_ ids: [GroupID]) -> [GroupID] {
        let claimed = ids.filter { id in
            guard let group = groups[id], !group.isReported else { return false }
            return group.claims.values.contains(where: \.isClaimed) && !group.claims.values.contains(where: \.isPending)
        }
        for id in claimed { groups[id]?.isReported = true }
        return claimed
    }
}
