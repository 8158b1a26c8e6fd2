import DNSWire
public import ProtocolCore

/// Manages the addresses of one interface: a link-local one (RFC 3927) until DHCP (RFC 2131) provides a lease, and
/// again after the lease ends. An address that an owner chose replaces DHCP.
///
/// The search for a link-local address and the search for a lease start as soon as there is a link. The desired state
/// follows from their results, and each step requests the difference to the current state (`settle`). An address that
/// the kernel rejected or another program removed is therefore added again.
///
/// When the link is lost, the addresses without connections are removed. When the link returns, possibly to a different
/// network, each address is claimed again before its use. Meanwhile an address with a connection lingers: the plug does
/// not announce it and does not answer ARP requests for it, but the connection continues if the network is still the
/// same. A cable is often reconnected soon.
public struct InterfaceAddressing: Machine, Sendable {
    /// The inputs of the machine.
    public typealias Event = AddressingEvent
    /// The outputs of the machine.
    public typealias Action = AddressingAction

    enum LinkLocal: Hashable, Sendable {
        /// The link is down, or the interface needs no link-local address.
        case none
        /// There were too many conflicts (RFC 3927 §2.2.1).
        case waiting(until: Instant)
        case claiming(AddressClaim)
        case held(AddressClaim, since: Instant)
        /// A lease is preferred. The address is kept for its existing connections (RFC 3927 §1.9).
        case deprecated(AddressClaim, usableSince: Instant, since: Instant)

        /// The claimed or held address.
        var address: IPv4Address? {
            switch self {
            case .none, .waiting: nil
            case .claiming(let claim), .held(let claim, _), .deprecated(let claim, _, _): claim.address
            }
        }
    }

    enum Lease: Hashable, Sendable {
        case none
        case checking(DHCPLease, AddressClaim)
        case bound(DHCPLease, AddressClaim)

        /// The claimed or held address.
        var address: IPv4Address? {
            switch self {
            case .none: nil
            case .checking(_, let claim), .bound(_, let claim): claim.address
            }
        }
    }

    /// The time after which a deprecated link-local address without a connection is removed. A client that resolved our
    /// name just before the plug got its lease may still connect to the link-local address: it may use the resolved
    /// address for up to 15 s, and a connection attempt takes up to 15 s more (four SYN of TCP).
    static let leastDeprecation = Duration.seconds(30)
    /// The time after which a lingering, unverified address is removed. By then the claim on a link-local address is
    /// decided (7 s), and a running DHCP server has been asked at least three times.
    static let longestLingering = Duration.seconds(10)
    /// The rate limit of ARP replies. One reply per request would let any host turn unicast packets into broadcasts,
    /// which slow down Wi-Fi for all hosts. A house of plugs that discover each other at once needs a few hundred
    /// replies; a host without a reply asks again after a second.
    static let answers = TokenBucket(burst: 64, interval: .milliseconds(50))
    /// The rate limit of flash writes. A first address, a lease and some conflicts are stored immediately; a neighbour
    /// that causes constant address changes cannot wear out the flash.
    static let memories = TokenBucket(burst: 8, interval: .seconds(600))

    let configuration: Configuration
    var hardware: MACAddress
    var isLinkUp = false
    /// True if there was a link since plugd started.
    var hadLink = false
    var linkLocal = LinkLocal.none
    var selection: LinkLocalSelection
    var lease = Lease.none
    var source: LeaseSource
    var interface: InterfaceContents
    /// Addresses that remain from before the link was lost or plugd started, and are not verified. They are at most the
    /// link-local address, the lease's, and inherited ones.
    var lingering: Set<IPv4Address>
    /// The time at which lingering ends. Nil while the link is down, because the addresses then disturb no other host.
    var lingeringUntil: Instant?
    var inUse: Set<IPv4Address> = []
    var answers = Self.answers
    var memory: RememberedAddresses
    var conflicts = 0
    var random: SeededRandom
    /// Packets and notices of this step. They are sent after the interface has changed accordingly.
    var outbox: [Action] = []

    /// Creates a machine that waits for a link.
    public init(configuration: Configuration) {
        self.configuration = configuration
        hardware = configuration.hardwareAddress
        // The hardware address makes interfaces with the same seed claim at different times.
        random = SeededRandom(seed: configuration.seed ^ configuration.hardwareAddress.rawValue &* 0x9E37_79B9)
        selection = LinkLocalSelection(hardware: hardware, remembered: configuration.remembered.linkLocal)
        source = Self.source(configuration, hardware, configuration.remembered.lease, random: &random)
        lingering = configuration.inherited
        interface = InterfaceContents(inherited: configuration.inherited, remembered: configuration.remembered)
        memory = configuration.remembered
    }

    static func source(
        _ configuration: Configuration, _ hardware: MACAddress, _ remembered: RememberedLease?,
        random: inout SeededRandom
    ) -> LeaseSource {
        if let fixed = configuration.fixed { return .owner(FixedLease(fixed)) }
        return .server(
            DHCPClient(
                configuration: DHCPClient.Configuration(
                    hardwareAddress: hardware, hostName: configuration.hostName,
                    clientIdentifier: configuration.clientIdentifier, remembered: remembered, seed: random.next())))
    }

    /// Handles an event at the time `now` and returns the actions to perform in order.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .deadlineReached: break
        case .linkUp: linkCame(now: now)
        case .linkDown: linkWent(now: now)
        case .hardwareAddressChanged(let address): changeHardware(to: address, now: now)
        case .resumed: resume(now: now)
        case .receivedARP(let packet):
            // On a link with hundreds of hosts nearly every packet concerns other hosts.
            guard concerns(packet) else { return [] }
            received(packet, now: now)
        case .receivedDHCP(let message, let sender):
            if isLinkUp { tellSource(.received(message, from: sender), now: now) }
        case .assigned(let address): interface.assigned(address, now: now)
        case .assignmentFailed(let address, let reason):
            guard interface.failed(address, now: now) else { break }
            lingering.remove(address)
            outbox.append(.notice(.assignmentFailed(address, reason: reason)))
        case .inUse(let addresses): use(addresses)
        }
        catchUp(now: now)
        let actions = settle(now: now)
        defer { outbox = [] }
        return actions + outbox.filter(stillHolds)
    }

    /// Returns false for packets about an address that was removed in this step or that the kernel rejected.
    private func stillHolds(_ action: Action) -> Bool {
        guard case .sendARP(let packet) = action, !packet.isProbe else { return true }
        return interface.present.contains(packet.senderAddress)
    }

    /// Handles due deadlines after the event: a packet that arrived before a deadline counts even if both are handled
    /// late.
    private mutating func catchUp(now: Instant) {
        if isLinkUp {
            advanceLinkLocal(now: now)
            advanceLease(now: now)
        }
        if let next = source.nextDeadline, next <= now { tellSource(.deadlineReached, now: now) }
        if let lingeringUntil, lingeringUntil <= now { stopLingering { _ in true } }
        let interface = interface
        stopLingering { interface.expires($0).map { $0 <= now } ?? false }
    }

    /// The time of the next ``AddressingEvent/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        var next = sooner(source.nextDeadline, interface.nextDeadline)
        next = sooner(next, lingering.isEmpty ? nil : lingeringUntil)
        for address in lingering { next = sooner(next, interface.expires(address)) }
        guard isLinkUp else { return next }
        return sooner(next, sooner(linkLocalDeadline, leaseDeadline))
    }
}
