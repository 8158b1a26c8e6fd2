import DNSWire
import LinkWire
public import ProtocolCore

/// The addresses of one interface: a link-local one (RFC 3927) until DHCP (RFC 2131) gives a better one, and again when it ends.
///
/// Both are sought from the moment there is a link. What the interface should have follows from where the two stand, and each
/// step asks for the difference to what it has (`settle`), so that no path through the states can forget to take something back.
///
/// When the link is lost the addresses are taken off, and when it is back, perhaps on another network, each is claimed anew before
/// it is used. An address on which a connection lives lingers, silent: nobody is told that we have it, but the connection goes on
/// where the network is still the same, and a cable is often back soon.
public struct InterfaceAddressing: Machine, Sendable {
    public typealias Event = AddressingEvent
    public typealias Action = AddressingAction

    enum LinkLocal: Hashable, Sendable {
        /// Not wanted, or there is no link.
        case none
        /// Too many conflicts (RFC 3927 §2.2.1).
        case waiting(until: Instant)
        case claiming(AddressClaim)
        case held(AddressClaim, since: Instant)
        /// A lease is preferred; kept for the connections that are on it (RFC 3927 §1.9).
        case deprecated(AddressClaim, usableSince: Instant, since: Instant)

        /// Claimed or held.
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

        /// Claimed or held.
        var address: IPv4Address? {
            switch self {
            case .none: nil
            case .checking(_, let claim), .bound(_, let claim): claim.address
            }
        }
    }

    /// After this time a link-local address on which no connection is goes. Whoever resolved our name just before the lease came
    /// has it: a connection attempt to it takes up to 15 s (four SYN of TCP), and an answer may have waited that long before.
    static let leastDeprecation = Duration.seconds(30)
    /// After this time an address that lingers and was not verified goes. By then the claim on a link-local address is
    /// decided (7 s), and a DHCP server that is there has been asked three times.
    static let longestLingering = Duration.seconds(10)
    /// One reply for each ARP request would let anybody turn unicast packets into broadcasts, which slow Wi-Fi down for all. A
    /// house of plugs that find each other anew at once asks a few hundred times; who got no answer asks again after a second.
    static let answers = Allowance(burst: 64, interval: .milliseconds(50))
    /// What is remembered goes to flash. A first address, a lease and some conflicts are kept at once; a neighbour that drives us
    /// from address to address wears out nothing.
    static let memories = Allowance(burst: 8, interval: .seconds(600))

    let configuration: Configuration
    var hardware: MACAddress
    var isLinkUp = false
    /// There was a link since plugd began.
    var hadLink = false
    var linkLocal = LinkLocal.none
    var selection: LinkLocalSelection
    var lease = Lease.none
    var dhcp: DHCPClient
    var interface: InterfaceContents
    /// On the interface from before the link was lost or plugd began, not verified since. At most the link-local address and
    /// the lease's, and what was inherited.
    var lingering: Set<IPv4Address>
    /// Nil while there is no link: there is nobody to disturb, and nobody to ask.
    var lingeringUntil: Instant?
    var inUse: Set<IPv4Address> = []
    var answers = Self.answers
    var memory: RememberedAddresses
    var conflicts = 0
    var random: SeededRandom
    /// Packets and notices of this step: they go out when the interface is as they presume.
    var outbox: [Action] = []

    public init(configuration: Configuration) {
        self.configuration = configuration
        hardware = configuration.hardwareAddress
        // The same seed on two interfaces of a host does not make them claim in step.
        random = SeededRandom(seed: configuration.seed ^ configuration.hardwareAddress.rawValue &* 0x9E37_79B9)
        selection = LinkLocalSelection(hardware: hardware, remembered: configuration.remembered.linkLocal)
        dhcp = Self.client(configuration, hardware, configuration.remembered.lease, random: &random)
        lingering = configuration.inherited
        interface = InterfaceContents(inherited: configuration.inherited, remembered: configuration.remembered)
        memory = configuration.remembered
    }

    static func client(
        _ configuration: Configuration, _ hardware: MACAddress, _ remembered: RememberedLease?,
        random: inout SeededRandom
    ) -> DHCPClient {
        DHCPClient(
            configuration: DHCPClient.Configuration(
                hardwareAddress: hardware, hostName: configuration.hostName,
                clientIdentifier: configuration.clientIdentifier, remembered: remembered, seed: random.next()))
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .deadlineReached: break
        case .linkUp: linkCame(now: now)
        case .linkDown: linkWent(now: now)
        case .hardwareAddressChanged(let address): changeHardware(to: address, now: now)
        case .resumed: resume(now: now)
        case .receivedARP(let packet):
            // On a link with hundreds of hosts nearly every packet is about others.
            guard concerns(packet) else { return [] }
            received(packet, now: now)
        case .receivedDHCP(let message, let sender):
            if isLinkUp { tellDHCP(.received(message, from: sender), now: now) }
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

    /// Nothing is said of an address that went in this very step, or that the kernel refuses.
    private func stillHolds(_ action: Action) -> Bool {
        guard case .sendARP(let packet) = action, !packet.isProbe else { return true }
        return interface.present.contains(packet.senderAddress)
    }

    /// What is due. After the event: a packet that came before a deadline counts even where both are told late.
    private mutating func catchUp(now: Instant) {
        if isLinkUp {
            advanceLinkLocal(now: now)
            advanceLease(now: now)
        }
        if let next = dhcp.nextDeadline, next <= now { tellDHCP(.deadlineReached, now: now) }
        if let lingeringUntil, lingeringUntil <= now { stopLingering { _ in true } }
        let interface = interface
        stopLingering { interface.expires($0).map { $0 <= now } ?? false }
    }

    public var nextDeadline: Instant? {
        var next = sooner(dhcp.nextDeadline, interface.nextDeadline)
        next = sooner(next, lingering.isEmpty ? nil : lingeringUntil)
        for address in lingering { next = sooner(next, interface.expires(address)) }
        guard isLinkUp else { return next }
        return sooner(next, sooner(linkLocalDeadline, leaseDeadline))
    }
}
