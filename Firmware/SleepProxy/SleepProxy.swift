import DNSWire
public import MulticastDNS
public import ProtocolCore
public import ServiceDiscovery

/// The sleep proxy of one link. It represents hosts that registered before they fell asleep: it publishes their records,
/// answers ARP and neighbour discovery for their addresses, and wakes them when a client needs them.
///
/// Any host can register, so the proxy represents a host only if its addresses answer from its own card, and if no other
/// host has its names. It answers for the addresses only after the card is silent. When the card sends again, the proxy
/// releases everything at once, so that it never represents a host that is awake.
///
/// Two risks remain, because frames of the link are not authenticated. A host that forges the card, the address and the
/// source of a host that is awake can add records to its registration, until the settling time ends or the host falls
/// asleep. A host that sends frames with the card of a sleeper ends its representation, so that clients cannot reach it
/// until it wakes up by itself.
public struct SleepProxy: Machine, Sendable {
    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The link is usable, or changed its addresses; nil if the link is down or has no address.
        case linkChanged(ProxyLink?)
        /// A datagram arrived at the proxy's UDP port.
        case registration([UInt8], from: Peer)
        /// A whole Ethernet frame passed the capture filter.
        case frame([UInt8])
        /// A multicast DNS message arrived. Messages of the plug itself are ignored.
        case heard(InboundMessage)
        /// The responder lost the name of a group to another host.
        case conflicted(GroupID)
        /// The other proxies that are on the link now.
        case proxies([SleepProxyName])
        /// The process ends. Nothing is sent, and the stored sleepers survive.
        case stop
        /// The user turned the proxy off. All sleepers are woken, and their records are withdrawn.
        case disable
        /// The time of ``SleepProxy/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends a datagram from the proxy's UDP port.
        case answer([UInt8], to: Peer)
        /// Sends a whole Ethernet frame.
        case send([UInt8])
        /// Publishes a group, or changes a published one. Verified names need no probing, because only the sleeping host
        /// announced them.
        case publish(GroupID, RecordGroup, isVerified: Bool)
        /// Withdraws a group.
        case withdraw(GroupID, goodbye: Bool)
        /// Replaces the filter of the packet socket. An empty filter closes the socket.
        case capture(CaptureFilter)
        /// Stores the sleepers.
        case save(StoredSleepers)
        /// Logs an event.
        case note(SleepNote)
    }

    /// The first id of the proxy's groups.
    public static let firstGroup = GroupID(rawValue: 1 << 32)

    let limits: SleepProxyLimits
    /// The metrics of this proxy, which are compared with those of other proxies.
    let metrics: SleepProxyName.Metrics
    var link: ProxyLink?
    var sleepers = SleeperTable()
    var verifications: [MACAddress: Verification] = [:] { didSet { isFilterCurrent = false } }
    var corrections: [MACAddress: NeighborCorrection] = [:] { didSet { isFilterCurrent = false } }
    var heldNames: HeldNames
    var budget: WakeBudget
    var histories: SleepHistories
    var handover = Handover()
    var counters = SleepProxyReport()
    var registrationBucket: TokenBucket
    /// True if the table differs from the stored sleepers.
    var isChanged = false
    var output: [Action] = []
    private var random: SeededRandom
    private var stored: StoredSleepers?
    private var noteBucket: TokenBucket
    private var nextGroup = Self.firstGroup.rawValue
    private var captured = CaptureFilter()
    /// False if a verification or a correction changed since the filter was computed.
    private var isFilterCurrent = true
    /// The generation of the table for which the filter was computed.
    private var filteredGeneration: UInt64 = 0
    private var isEnabled = true

    /// Creates a proxy without a link.
    ///
    /// - Parameters:
    ///   - random: the source of delays.
    ///   - metrics: the metrics in this proxy's instance name.
    ///   - limits: the limits of the link.
    ///   - stored: the sleepers of the previous process. If the time of storing is later than now, it belongs to a
    ///     previous boot: the lease time that remained then counts from the moment of restoring.
    ///   - histories: the histories of the proxy that served the link before it was lost.
    public init(
        random: SeededRandom, metrics: SleepProxyName.Metrics, limits: SleepProxyLimits = SleepProxyLimits(),
        stored: StoredSleepers? = nil, histories: [SleepHistory] = []
    ) {
        self.random = random
        self.metrics = metrics
        self.limits = limits
        self.stored = stored
        heldNames = HeldNames(capacity: limits.heldNames)
        budget = WakeBudget(limits: limits)
        self.histories = SleepHistories(capacity: limits.rememberedHosts, known: histories)
        registrationBucket = TokenBucket(burst: limits.registrationBurst, interval: limits.registrationInterval)
        noteBucket = TokenBucket(burst: limits.noteBurst, interval: limits.noteInterval)
    }

    /// The time of the next ``Event/deadlineReached``, or nil. Without a link, no time is due.
    public var nextDeadline: Instant? {
        guard isEnabled, link != nil else { return nil }
        let verification = verifications.values.lazy.map(\.nextDeadline).min()
        let correction = corrections.values.lazy.compactMap(\.next).min()
        return sooner(sooner(sleepers.nextDeadline, handover.next), sooner(verification, correction))
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        guard isEnabled else { return [] }
        switch event {
        case .linkChanged(let link): change(link, now: now)
        case .registration(let bytes, let peer): register(bytes, from: peer, now: now)
        case .frame(let bytes): receive(frame: bytes, now: now)
        case .heard(let message): hear(message, now: now)
        case .conflicted(let group): lose(group, now: now)
        case .proxies(let names): compare(with: names, now: now)
        case .stop: stop()
        case .disable: disable(now: now)
        case .deadlineReached: break
        }
        if isEnabled, link != nil { performDue(now: now) }
        return finish(now: now)
    }

    /// The sleepers, and the counts since the proxy was created.
    public var report: SleepProxyReport {
        var report = counters
        report.sleepers = sleepers.ordered.map { sleeper in
            let history = histories[sleeper.owner.card]
            return SleepProxyReport.Sleeper(
                identity: sleeper.identity, addresses: sleeper.records.addresses,
                records: sleeper.records.records.count, state: sleeper.state, since: sleeper.registered,
                expires: sleeper.expires, wakes: history?.wakes ?? [:], lastCause: history?.lastCause)
        }
        report.histories = histories.newestFirst
        return report
    }

    /// A number that changes with ``SleepProxyReport/histories``, so that the shell need not compare them after each
    /// frame.
    public var historyGeneration: UInt64 { histories.generation }

    private mutating func performDue(now: Instant) {
        performDueVerifications(now: now)
        for card in sleepers.due(now) { step(card, now: now) }
        performDueCorrections(now: now)
        performDueHandover(now: now)
    }

    /// Adds the changes of the filter and of the stored sleepers, and returns all actions.
    private mutating func finish(now: Instant) -> [Action] {
        if isChanged {
            isChanged = false
            output.append(.save(StoredSleepers(sleepers.ordered, now: now)))
        }
        updateFilter()
        defer { output = [] }
        return output
    }

    /// Replaces the capture filter if it changed. Most frames change nothing, so the filter is not computed for them.
    private mutating func updateFilter() {
        guard !isFilterCurrent || filteredGeneration != sleepers.generation else { return }
        isFilterCurrent = true
        filteredGeneration = sleepers.generation
        let filter = isEnabled && link != nil ? neededFilter : CaptureFilter()
        guard filter != captured else { return }
        captured = filter
        // The socket must be open before the requests are sent, or the first answers are lost.
        output.insert(.capture(filter), at: 0)
    }

    private var neededFilter: CaptureFilter {
        var filter = CaptureFilter()
        for sleeper in sleepers.all {
            filter.addresses.formUnion(sleeper.records.addresses)
            filter.cards.insert(sleeper.owner.card)
        }
        for verification in verifications.values {
            filter.addresses.formUnion(verification.records.addresses)
            filter.cards.insert(verification.owner.card)
        }
        for correction in corrections.values { filter.cards.insert(correction.card) }
        return filter
    }

    /// Logs an event.
    mutating func note(_ note: SleepNote) { output.append(.note(note)) }

    /// Counts a refusal, and logs it if the limit permits.
    mutating func noteRefusal(_ reason: RefusalReason, from peer: Peer, now: Instant) {
        counters.refusals[reason, default: 0] += 1
        if noteBucket.take(now: now) { note(.refused(reason, from: peer)) }
    }

    /// Returns an id that no group has had.
    mutating func makeGroup() -> GroupID {
        defer { nextGroup += 1 }
        return GroupID(rawValue: nextGroup)
    }

    /// Ends without a trace on the link.
    private mutating func stop() {
        isEnabled = false
        isFilterCurrent = false
        verifications = [:]
        corrections = [:]
    }

    /// Wakes and releases all sleepers.
    private mutating func disable(now: Instant) {
        for sleeper in sleepers.ordered {
            if sleeper.mayBeCached { sendMagicPackets(to: sleeper.owner) }
            note(.waking(sleeper.identity, .disabled))
            counters.wakes[.disabled, default: 0] += 1
            release(sleeper.owner.card, goodbye: true, correctsNeighbors: false, now: now)
        }
        stop()
    }

    /// Starts on a link, stops, or adapts to changed addresses.
    private mutating func change(_ link: ProxyLink?, now: Instant) {
        let previous = self.link
        self.link = link
        isFilterCurrent = false
        guard let link else {
            verifications = [:]
            corrections = [:]
            return suspend(now: now)
        }
        if let stored { restore(stored, now: now) }
        stored = nil
        // A lease can end while no proxy serves the link.
        for history in histories.newestFirst where sleepers[history.identity.card] == nil {
            histories.ended(history.identity.card, now: now)
        }
        if let previous, previous.interface != link.interface || previous.hardware != link.hardware {
            suspend(now: now)
        }
        for sleeper in sleepers.ordered {
            if let reason = objection(to: sleeper.records, on: link) {
                note(.removed(sleeper.identity, reason))
                release(sleeper.owner.card, goodbye: false, correctsNeighbors: false, now: now)
            } else if previous == nil {
                recover(sleeper.owner.card, now: now)
            }
        }
        for (card, verification) in verifications {
            if objection(to: verification.records, on: link) != nil { verifications[card] = nil }
        }
    }

    /// Withdraws all groups without a goodbye. The sleepers are checked again when the link returns.
    private mutating func suspend(now: Instant) {
        for sleeper in sleepers.ordered {
            var sleeper = sleeper
            withdrawGroups(of: &sleeper, goodbye: false)
            sleepers.set(sleeper)
            recover(sleeper.owner.card, now: now)
        }
    }

    /// Checks whether a sleeper is still silent. The checks of many sleepers are spread over a second.
    private mutating func recover(_ card: MACAddress, now: Instant) {
        let first = now + random.duration(in: .zero ... .seconds(1))
        sleepers.setPhase(.recovering(SilenceCheck(first: first)), of: card)
    }

    private mutating func restore(_ stored: StoredSleepers, now: Instant) {
        // The clock counts since boot, so a later time than now belongs to a previous boot.
        let isSameBoot = stored.saved <= now
        for entry in stored.entries where sleepers.count < limits.sleepers {
            let expires = isSameBoot ? entry.expires : now + (entry.expires - stored.saved)
            let isKnown = sleepers[entry.owner.card] != nil
            guard !isKnown, expires > now, expires - now <= .seconds(Int64(limits.lease)),
                let records = try? SleeperRecords(entry.records, after: nil, limits: limits),
                !records.addresses.contains(where: { sleepers.sleeper(at: $0) != nil }),
                !records.names.contains(where: { sleepers.sleeper(named: $0) != nil })
            else { continue }
            sleepers.set(
                Sleeper(
                    owner: entry.owner, records: records, registered: isSameBoot ? min(entry.registered, now) : now,
                    expires: expires, phase: .recovering(SilenceCheck(first: now))))
        }
        isChanged = true
    }
}

/// The state of handing sleepers over to a better proxy.
struct Handover: Sendable {
    /// The time of the next wake, or nil if no better proxy is present or all sleepers were handed over.
    var next: Instant?
    /// True while a better proxy is on the link.
    var isBetterPresent = false
    /// The cards that were woken for the current better proxy. Each one is woken once: a host may have reasons to
    /// register here again.
    var woken: Set<MACAddress> = []
}
