public import DNSWire
public import MulticastDNS
public import ProtocolCore
import ServiceDiscovery

/// Registers a host with the best sleep proxy of each link before the host sleeps, and takes its records over when it
/// is awake again.
public struct SleepClient: Machine, Sendable {
    /// The events of the host and the network.
    public enum Event: MachineEvent, Sendable {
        /// The proxies that are announced now. A running registration keeps the proxies with which it began.
        case proxies([FoundSleepProxy])
        /// The host sleeps when this machine reports ``Action/ready(_:)``. It waits at most for `limit`, and never
        /// longer than ``longestWait``.
        case suspending([SleepingLink], limit: Duration)
        /// A datagram from a proxy.
        case answer([UInt8], from: Peer, interface: InterfaceID)
        /// The host is awake again, or the suspend was cancelled.
        case resumed
        case deadlineReached
    }

    /// The actions for the shell.
    public enum Action: Hashable, Sendable {
        case send([UInt8], to: Peer, interface: InterfaceID)
        /// The host may sleep now. Contains the result of each link by the name of its interface.
        case ready([String: SleepOutcome])
        /// Sends a multicast DNS message with this option and the announced records on the interface, so that the proxy
        /// releases them.
        case takeOver(OwnerOption, interface: InterfaceID)
        /// A line for the log about the registration.
        case report(String)
        /// A line for the log about the sleep that ended after this time.
        case summary(String, asleep: Duration)
    }

    private enum State {
        case awake
        case registering([LinkRegistration], until: Instant)
        case asleep([LinkRegistration], since: Instant)
    }

    /// The messages that take over one link. They are repeated, because a link is not usable at once after a wake-up.
    private struct TakeOver {
        let owner: OwnerOption
        let interface: InterfaceID
        var next: Instant
        var pauses: ArraySlice<Duration>
    }

    /// The limit of a suspend's delay. logind permits five seconds by default; the remaining time is for other programs
    /// and for a busy host.
    public static let longestWait = Duration.seconds(3)
    /// The pauses between the messages that take over a link.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(7)]

    private var random: SeededRandom
    private var proxies: [FoundSleepProxy] = []
    private var state = State.awake
    private var takeOvers: [TakeOver] = []
    /// The sequence number of the Owner option. It increases with each wake-up.
    public private(set) var sequence: UInt8

    /// Creates a client of a host that is awake.
    ///
    /// - Parameter sequence: the sequence number that follows the last one of an earlier process.
    public init(random: SeededRandom, sequence: UInt8) {
        self.random = random
        self.sequence = sequence
    }

    public var nextDeadline: Instant? {
        let repeats = takeOvers.reduce(nil) { sooner($0, $1.next) }
        switch state {
        case .registering(let links, let limit): return links.reduce(sooner(repeats, limit)) { sooner($0, $1.deadline) }
        case .awake, .asleep: return repeats
        }
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .proxies(let proxies): self.proxies = proxies
        case .suspending(let links, let limit):
            wake(now: now, &actions)
            takeOvers = []
            register(links, until: now + min(limit, Self.longestWait), now: now)
        case .answer(let bytes, let peer, let interface): receive(bytes, from: peer, interface, now: now)
        case .resumed: wake(now: now, &actions)
        case .deadlineReached: break
        }
        advance(now: now, &actions)
        repeatTakeOvers(now: now, &actions)
        return actions
    }

    private mutating func register(_ links: [SleepingLink], until limit: Instant, now: Instant) {
        // The card of the interface with the lowest number identifies the host on all links.
        let primary = links.min { $0.interface < $1.interface }?.card ?? .zero
        let registrations = links.map { link in
            let owner = OwnerOption(
                sequence: sequence, primary: primary, wakeup: link.card == primary ? nil : link.card)
            return LinkRegistration(link, owner: owner, proxies: proxies, now: now, &random)
        }
        state = .registering(registrations, until: limit)
    }

    private mutating func receive(_ bytes: [UInt8], from peer: Peer, _ interface: InterfaceID, now: Instant) {
        // A late answer needs no handling: the wake-up takes the records over in any case.
        guard case .registering(var links, let limit) = state,
            let answer = try? SleepRegistrationAnswer(decoding: bytes)
        else { return }
        for index in links.indices {
            links[index].handle(answer, from: peer, interface: interface, now: now, &random)
        }
        state = .registering(links, until: limit)
    }

    private mutating func advance(now: Instant, _ actions: inout [Action]) {
        guard case .registering(var links, let limit) = state else { return }
        for index in links.indices {
            if limit <= now { links[index].end() }
            links[index].advance(now: now, &random, &actions)
        }
        let outcomes = links.compactMap { link in link.outcome.map { (link.link.name, $0) } }
        guard outcomes.count == links.count else {
            state = .registering(links, until: limit)
            return
        }
        state = .asleep(links, since: now)
        // Most hosts have virtual interfaces without a proxy, which are of no interest.
        let tried = links.filter(\.hasSent)
        for (name, outcome) in outcomes where tried.contains(where: { $0.link.name == name }) {
            actions.append(.report("before the suspend, on \(name): \(outcome)"))
        }
        if tried.isEmpty, let first = outcomes.first { actions.append(.report("before the suspend: \(first.1)")) }
        actions.append(.ready(Dictionary(outcomes) { first, _ in first }))
    }

    /// Ends a sleep: each proxy that may have records of this host must release them.
    private mutating func wake(now: Instant, _ actions: inout [Action]) {
        let links: [LinkRegistration]
        let since: Instant?
        switch state {
        case .awake: return
        case .registering(let registrations, _): (links, since) = (registrations, nil)
        case .asleep(let registrations, let time): (links, since) = (registrations, time)
        }
        state = .awake
        sequence &+= 1
        let primary = links.map(\.link).min { $0.interface < $1.interface }?.card ?? .zero
        takeOvers = links.filter(\.hasSent).map { registration in
            let card = registration.link.card
            let owner = OwnerOption(sequence: sequence, primary: primary, wakeup: card == primary ? nil : card)
            return TakeOver(
                owner: owner, interface: registration.link.interface, next: now, pauses: Self.pauses[...])
        }
        guard let since else { return actions.append(.report("the suspend was cancelled")) }
        actions.append(.summary(Self.summary(links, asleep: now - since), asleep: now - since))
    }

    private mutating func repeatTakeOvers(now: Instant, _ actions: inout [Action]) {
        takeOvers = takeOvers.compactMap { takeOver in
            guard takeOver.next <= now else { return takeOver }
            actions.append(.takeOver(takeOver.owner, interface: takeOver.interface))
            var later = takeOver
            guard let pause = later.pauses.popFirst() else { return nil }
            later.next = now + pause
            return later
        }
    }

    private static func summary(_ links: [LinkRegistration], asleep: Duration) -> String {
        let parts = links.compactMap { link -> String? in
            guard case .registered(let proxy, let lease) = link.outcome else { return nil }
            let end = lease < asleep ? " for the first \(lease.inWords)" : ""
            return "\(proxy.name) represented this host on \(link.link.name)\(end)"
        }
        return "awake after \(asleep.inWords)"
            + (parts.isEmpty ? "; no sleep proxy represented this host" : parts.map { "; \($0)" }.joined())
    }
}

extension OwnerOption {
    /// Returns the multicast DNS messages of ``SleepClient/Action/takeOver(_:interface:)``, each with the option. There
    /// is at least one, because a proxy releases the records when it receives the option without any record.
    public func announcements(of records: [Record]) -> [[UInt8]] {
        let option = OptionsRecord(options: [.owner(self)]).record
        func message(_ records: [Record]) -> [UInt8]? {
            try? Message(flags: [.response, .authoritative], answers: records, additionals: [option]).encoded(
                limit: SleepRegistration.messageLimit)
        }
        var (messages, part): ([[UInt8]], [Record]) = ([], [])
        for record in records {
            if message(part + [record]) != nil {
                part.append(record)
            } else {
                if let bytes = message(part) { messages.append(bytes) }
                part = message([record]) == nil ? [] : [record]
            }
        }
        return messages + (message(part).map { [$0] } ?? [])
    }
}
