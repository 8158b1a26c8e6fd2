public import DNSWire
public import LinkWire
public import ProtocolCore

/// What happens to one interface whose addresses are ours to choose.
public enum AddressingEvent: MachineEvent, Hashable, Sendable {
    case deadlineReached
    /// The link is there: a cable is plugged in, the radio is associated. Perhaps to another network than before.
    case linkUp
    case linkDown
    /// The interface has another card, or its card another address.
    case hardwareAddressChanged(MACAddress)
    /// The host slept: what is held may have been given away meanwhile.
    case resumed
    case receivedARP(ARPPacket)
    /// A DHCP message to us, by the raw socket or by UDP, and the address that it came from.
    case receivedDHCP(DHCPMessage, from: IPv4Address)
    /// The kernel has the address of an ``AddressingAction/assign(_:)``.
    case assigned(IPv4Address)
    /// The kernel refused it, or somebody else took it away later; the reason is for the log.
    case assignmentFailed(IPv4Address, reason: String)
    /// These of our addresses are the local end of a connection: told whenever that changes, and before ``linkUp``, which decides
    /// by it what stays while it is verified.
    case inUse(Set<IPv4Address>)
}

/// What an interface's shell has to do, in order.
public enum AddressingAction: Hashable, Sendable {
    /// To everybody on the link, whatever it says: RFC 3927 §2.5 wants even replies broadcast.
    case sendARP(ARPPacket)
    /// To 255.255.255.255, past the kernel, from the message's `clientAddress`: 0.0.0.0 before there is a lease, the lease's
    /// address while rebinding (RFC 2131 §4.4.5).
    case broadcastDHCP(DHCPMessage)
    /// By the kernel's routes, as renewals go.
    case sendDHCP(DHCPMessage, from: IPv4Address, to: IPv4Address)
    /// Gives the address to the interface, or changes what belongs to it. Answered with ``AddressingEvent/assigned(_:)`` or
    /// ``AddressingEvent/assignmentFailed(_:reason:)``, after all actions of the step are done.
    case assign(AssignedAddress)
    case remove(IPv4Address)
    /// All routes that are ours on this interface; those that were set before and are missing here go. The kernel adds none for
    /// our addresses by itself (IFA_F_NOPREFIXROUTE): theirs would come before all others.
    case setRoutes([Route])
    /// Whether the kernel answers ARP requests. It answers by unicast, which RFC 3927 §2.5 forbids for link-local addresses, so
    /// while one is held the machine answers for all addresses itself.
    case kernelAnswersARP(Bool)
    /// What the DHCP server says about the network's other servers; nil when there is no lease.
    case handOn(NetworkServers?)
    /// To keep over a restart and a loss of power.
    case remember(RememberedAddresses)
    /// For the log and for people.
    case notice(AddressingNotice)
}

/// An address as the kernel takes it (rtnetlink RTM_NEWADDR).
public struct AssignedAddress: Hashable, Sendable {
    public enum Scope: Hashable, Sendable { case link, global }

    public var address: IPv4Address
    /// Bits.
    public var prefixLength: UInt8
    public var broadcast: IPv4Address
    public var scope: Scope
    /// False: nothing new begins from it while there is another (a preferred lifetime of 0).
    public var isPreferred: Bool
    /// How long the kernel keeps it without hearing of it again; nil for ever. A dead plugd so never outlives its lease.
    public var validFor: Duration?

    public init(
        address: IPv4Address, prefixLength: UInt8, broadcast: IPv4Address, scope: Scope, isPreferred: Bool = true,
        validFor: Duration? = nil
    ) {
        self.address = address
        self.prefixLength = prefixLength
        self.broadcast = broadcast
        self.scope = scope
        self.isPreferred = isPreferred
        self.validFor = validFor
    }
}

/// A route through this interface.
public struct Route: Hashable, Sendable {
    /// 0.0.0.0/0 is the default route.
    public var destination: IPv4Address
    public var prefixLength: UInt8
    /// Nil: what is there is on the link.
    public var router: IPv4Address?
    /// The address that packets along it leave from; nil: the kernel's choice.
    public var source: IPv4Address?
    /// Of two routes the one with the smaller number is taken.
    public var metric: UInt32

    public init(
        destination: IPv4Address, prefixLength: UInt8, router: IPv4Address? = nil, source: IPv4Address? = nil,
        metric: UInt32
    ) {
        self.destination = destination
        self.prefixLength = prefixLength
        self.router = router
        self.source = source
        self.metric = metric
    }
}

/// The servers that a DHCP server names (RFC 2132 §3.8, §8.3, §3.17; RFC 3397).
public struct NetworkServers: Hashable, Sendable {
    public var nameServers: [IPv4Address]
    public var timeServers: [IPv4Address]
    public var domain: String?
    public var searchDomains: [String]

    public init(
        nameServers: [IPv4Address] = [], timeServers: [IPv4Address] = [], domain: String? = nil,
        searchDomains: [String] = []
    ) {
        self.nameServers = nameServers
        self.timeServers = timeServers
        self.domain = domain
        self.searchDomains = searchDomains
    }
}

/// What an interface takes up again after a restart: the same addresses, if they are still free.
public struct RememberedAddresses: Hashable, Sendable {
    public var linkLocal: IPv4Address?
    public var lease: RememberedLease?

    public init(linkLocal: IPv4Address? = nil, lease: RememberedLease? = nil) {
        self.linkLocal = linkLocal
        self.lease = lease
    }
}

/// A lease without its times: a plug has no clock that survives a loss of power, so the server is asked (INIT-REBOOT,
/// RFC 2131 §3.2) whether it still stands.
public struct RememberedLease: Hashable, Sendable {
    public var address: IPv4Address
    public var server: IPv4Address

    public init(address: IPv4Address, server: IPv4Address) {
        self.address = address
        self.server = server
    }
}

/// Something that people may want to know, as data.
public enum AddressingNotice: Hashable, Sendable {
    case claimed(IPv4Address)
    case leased(IPv4Address, server: IPv4Address, for: Duration?)
    case leaseLost(IPv4Address, LeaseEnd)
    /// Another card has, or wants, the address.
    case conflict(IPv4Address, with: MACAddress)
    case defended(IPv4Address, against: MACAddress)
    case gaveUp(IPv4Address)
    /// Too many conflicts: from now on one try a minute (RFC 3927 §2.2.1).
    case rateLimited
    case assignmentFailed(IPv4Address, reason: String)

    public enum LeaseEnd: Hashable, Sendable { case expired, refused, conflict, linkLost }
}
