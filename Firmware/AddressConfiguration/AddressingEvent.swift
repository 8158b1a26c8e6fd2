public import DNSWire
public import ProtocolCore

/// An event of one interface whose addresses the plug manages.
public enum AddressingEvent: MachineEvent, Hashable, Sendable {
    /// The time of the machine's `nextDeadline` was reached.
    case deadlineReached
    /// The link is up: a cable is plugged in, or the radio is associated. It may be a different network than before.
    case linkUp
    /// The link is down.
    case linkDown
    /// The interface has a different card, or its card a different address.
    case hardwareAddressChanged(MACAddress)
    /// The host resumed after a suspend. Other hosts may have its addresses now.
    case resumed
    /// An ARP packet was received on the interface.
    case receivedARP(ARPPacket)
    /// A DHCP message for this host, from the raw socket or by UDP, and its source address.
    case receivedDHCP(DHCPMessage, from: IPv4Address)
    /// The kernel added the address of an ``AddressingAction/assign(_:)``.
    case assigned(IPv4Address)
    /// The kernel rejected the address, or another program removed it later. The reason is for the log.
    case assignmentFailed(IPv4Address, reason: String)
    /// The local addresses of all open connections. The shell sends this event before ``linkUp``, ``linkDown`` and
    /// ``resumed``, and every 5 s while a link-local address is deprecated. Addresses with connections remain while
    /// they are verified.
    case inUse(Set<IPv4Address>)
}

/// The actions of an interface's shell, in order.
public enum AddressingAction: Hashable, Sendable {
    /// Broadcasts an ARP packet on the link, even a reply (RFC 3927 §2.5).
    case sendARP(ARPPacket)
    /// Sends a message to 255.255.255.255, bypassing the kernel, from the message's `clientAddress`: 0.0.0.0 without a
    /// lease, the lease's address during rebinding (RFC 2131 §4.4.5).
    case broadcastDHCP(DHCPMessage)
    /// Sends a message by the kernel's routes, as renewals require.
    case sendDHCP(DHCPMessage, from: IPv4Address, to: IPv4Address)
    /// Adds the address to the interface, or changes its properties. Answered with ``AddressingEvent/assigned(_:)`` or
    /// ``AddressingEvent/assignmentFailed(_:reason:)`` after all actions of the step are done.
    case assign(AssignedAddress)
    /// Removes the address from the interface.
    case remove(IPv4Address)
    /// Sets all our routes on this interface; previous routes that are missing here are removed. The kernel adds no
    /// routes for our addresses (IFA_F_NOPREFIXROUTE), because its routes would precede all others.
    case setRoutes([Route])
    /// Enables or disables the kernel's ARP replies. The kernel replies by unicast, which RFC 3927 §2.5 forbids for
    /// link-local addresses. While the interface has a link-local or an unverified address, the machine replies for all
    /// verified addresses.
    case kernelAnswersARP(Bool)
    /// Publishes the network's servers from the DHCP lease, or withdraws them if the value is nil.
    case handOn(NetworkServers?)
    /// Stores data for restarts and power losses.
    case remember(RememberedAddresses)
    /// Reports a notice for the log and the user.
    case notice(AddressingNotice)
}

/// An address in the form of the kernel (rtnetlink RTM_NEWADDR).
public struct AssignedAddress: Hashable, Sendable {
    /// The scope of the address in the kernel (ifa_scope): the link, or the whole network.
    public enum Scope: Hashable, Sendable { case link, global }

    /// The address.
    public var address: IPv4Address
    /// The length of the network part in bits.
    public var prefixLength: UInt8
    /// The broadcast address of the network.
    public var broadcast: IPv4Address
    /// The scope of the address.
    public var scope: Scope
    /// False if new connections should use another address (a preferred lifetime of 0).
    public var isPreferred: Bool
    /// The lifetime of the address in the kernel unless it is renewed; nil for an unlimited one. The address expires
    /// with its lease even if plugd crashed.
    public var validFor: Duration?

    /// Creates an address.
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
    /// The destination network. 0.0.0.0/0 is the default route.
    public var destination: IPv4Address
    /// The length of the destination's network part in bits.
    public var prefixLength: UInt8
    /// The next hop; nil if the destination is on the link.
    public var router: IPv4Address?
    /// The source address of packets on this route; nil if the kernel chooses it.
    public var source: IPv4Address?
    /// The priority. Of two routes the one with the smaller metric is used.
    public var metric: UInt32

    /// Creates a route.
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

/// The servers in a DHCP message (RFC 2132 §3.8, §8.3, §3.17; RFC 3397).
public struct NetworkServers: Hashable, Sendable {
    /// The name servers, preferred one first.
    public var nameServers: [IPv4Address]
    /// The time servers, preferred one first.
    public var timeServers: [IPv4Address]
    /// The domain name of the network.
    public var domain: String?
    /// The domains to append to short names.
    public var searchDomains: [String]

    /// Creates a list of servers.
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

/// The addresses that an interface reuses after a restart if they are still free.
public struct RememberedAddresses: Hashable, Sendable {
    /// The last link-local address that was claimed.
    public var linkLocal: IPv4Address?
    /// The last lease.
    public var lease: RememberedLease?

    /// Creates a record of addresses.
    public init(linkLocal: IPv4Address? = nil, lease: RememberedLease? = nil) {
        self.linkLocal = linkLocal
        self.lease = lease
    }
}

/// A lease without its times. A plug has no clock that survives a power loss, so it asks the server to confirm the
/// lease (INIT-REBOOT, RFC 2131 §3.2).
public struct RememberedLease: Hashable, Sendable {
    /// The leased address.
    public var address: IPv4Address
    /// The server that assigned the address.
    public var server: IPv4Address

    /// Creates a record of a lease.
    public init(address: IPv4Address, server: IPv4Address) {
        self.address = address
        self.server = server
    }
}

/// A notice for the user, as data.
public enum AddressingNotice: Hashable, Sendable {
    /// The link-local address was claimed.
    case claimed(IPv4Address)
    /// A server leased the address for this time; nil for an unlimited time.
    case leased(IPv4Address, server: IPv4Address, for: Duration?)
    /// The address that an owner chose is used.
    case fixed(IPv4Address)
    /// The lease of the address ended.
    case leaseLost(IPv4Address, LeaseEnd)
    /// Another host uses or probes for the address.
    case conflict(IPv4Address, with: MACAddress)
    /// The claim on the address was defended by an announcement.
    case defended(IPv4Address, against: MACAddress)
    /// The address was given up because of a conflict.
    case gaveUp(IPv4Address)
    /// There were too many conflicts. From now on the plug tries one address per minute (RFC 3927 §2.2.1).
    case rateLimited
    /// The kernel rejected the address. The reason is for the log.
    case assignmentFailed(IPv4Address, reason: String)

    /// The reason why a lease ended.
    public enum LeaseEnd: Hashable, Sendable { case expired, refused, conflict, linkLost }
}
