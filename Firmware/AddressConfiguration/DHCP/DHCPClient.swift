public import DNSWire
public import ProtocolCore

/// Obtains an address from a DHCP server and keeps it (RFC 2131 §4.4, client). The machine serves one interface.
///
/// The client never gives up. If no server answers, the interval between its messages grows to 64 s.
public struct DHCPClient: Machine, Sendable {
    /// The inputs of the client.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The time of ``DHCPClient/nextDeadline`` was reached.
        case deadlineReached
        /// The link is up, possibly to a different network than before.
        /// - isPowerOn: true if many machines may start at this moment. The first message then waits for a random time
        ///   up to one second (``RFC2131/startSpread``); otherwise it is sent immediately.
        case linkUp(isPowerOn: Bool)
        /// The link is down.
        case linkDown
        /// A message, and its source address, which may be a relay's.
        case received(DHCPMessage, from: IPv4Address)
        /// No other host has the address of the last ``Action/check(_:)``.
        case addressChecked
        /// Another host has the address of the last ``Action/check(_:)``, or the defence of the lease's address failed.
        case addressInConflict
        /// The host resumed after a suspend. The lease is requested again, as after a lost link.
        case resumed
    }

    /// The outputs of the client, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends a message to 255.255.255.255, bypassing the kernel, from the message's `clientAddress`, which is
        /// 0.0.0.0 without a lease.
        case broadcast(DHCPMessage)
        /// Sends a message by the kernel's routes.
        case send(DHCPMessage, from: IPv4Address, to: IPv4Address)
        /// Probes for the address before its use; answered with ``Event/addressChecked`` or
        /// ``Event/addressInConflict``. The address must not be used before ``bound(_:)``. Without one of these events,
        /// the check ends when the lease expires.
        case check(DHCPLease)
        /// The lease may be used. Sent again at each renewal, with the same address and possibly other changes.
        case bound(DHCPLease)
        /// The last bound lease may no longer be used. Sent once per lease, also when the link is lost: the client
        /// requests the lease again when the link returns, and binds it again if a server agrees.
        case lost(AddressingNotice.LeaseEnd)
    }

    /// The identity of the client and its initial data.
    public struct Configuration: Hashable, Sendable {
        /// The address of the network card.
        public var hardwareAddress: MACAddress
        /// The host name without a domain. It is only sent if it has 1 to 63 bytes.
        public var hostName: String
        /// The client identifier with its type (RFC 4361 §6.1).
        public var clientIdentifier: [UInt8]
        /// The lease before a restart, which is requested first.
        public var remembered: RememberedLease?
        /// The seed for transaction ids and random delays.
        public var seed: UInt64

        /// Creates a configuration.
        public init(
            hardwareAddress: MACAddress, hostName: String, clientIdentifier: [UInt8], remembered: RememberedLease?,
            seed: UInt64
        ) {
            self.hardwareAddress = hardwareAddress
            self.hostName = hostName
            self.clientIdentifier = clientIdentifier
            self.remembered = remembered
            self.seed = seed
        }
    }

    /// The states of RFC 2131 §4.4, figure 5.
    enum State: Hashable, Sendable {
        /// The link is down.
        case off
        /// INIT: waits for the start time.
        case initial(at: Instant)
        /// SELECTING. The fallback is an offer from an unreliable server, kept in case no better one arrives.
        case selecting(DHCPExchange, fallback: DHCPLease?)
        case requesting(DHCPExchange, offer: DHCPLease)
        /// INIT-REBOOT: waits for the start time.
        case initReboot(at: Instant, IPv4Address)
        case rebooting(DHCPExchange, IPv4Address)
        /// The server acknowledged the lease, but its address is not probed yet.
        case checking(DHCPLease)
        case bound(DHCPLease)
        case renewing(DHCPLease, DHCPExchange)
        case rebinding(DHCPLease, DHCPExchange)
    }

    /// The last lease, which is requested first.
    struct Candidate: Hashable, Sendable {
        var address: IPv4Address
        /// The end of the lease, after which the address is only a preference; nil if it is unknown or never expires.
        var expires: Instant?
    }

    let configuration: Configuration
    var state = State.off
    var candidate: Candidate?
    var random: SeededRandom
    /// The time at which the search for an address started.
    var searchBegan = Instant.zero
    var backoff = DHCPBackoff()
    var starts = DHCPStartLimit()
    /// Addresses that another host had.
    var declined = RecentValues<IPv4Address>()
    /// Servers that did not confirm their own offer.
    var avoided = RecentValues<IPv4Address>()

    /// Creates a client that waits for a link.
    public init(configuration: Configuration) {
        self.configuration = configuration
        random = SeededRandom(seed: configuration.seed)
        candidate = configuration.remembered.map { Candidate(address: $0.address) }
    }

    /// The lease in use.
    public var lease: DHCPLease? {
        switch state {
        case .off, .initial, .selecting, .requesting, .initReboot, .rebooting, .checking: nil
        case .bound(let lease), .renewing(let lease, _), .rebinding(let lease, _): lease
        }
    }

    /// The state of the client for the user.
    public var status: AddressingStatus.DHCP {
        if case .off = state { return .off }
        guard let lease else { return .searching }
        return .leased(
            AddressingStatus.Lease(
                address: lease.address, prefixLength: lease.prefixLength, server: lease.server,
                router: lease.routers.first, expires: lease.expires))
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        switch state {
        case .off: nil
        case .initial(let time), .initReboot(let time, _): time
        case .selecting(let exchange, _), .requesting(let exchange, _), .rebooting(let exchange, _): exchange.next
        case .checking(let lease): lease.expires
        case .bound(let lease): lease.renews ?? lease.expires
        case .renewing(let lease, let exchange): sooner(exchange.next, lease.rebinds)
        case .rebinding(let lease, let exchange): sooner(exchange.next, lease.expires)
        }
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .deadlineReached: return deadlineReached(now: now)
        case .linkUp(let isPowerOn): return begin(spread: isPowerOn, now: now)
        case .linkDown:
            let actions = giveUpLease(.linkLost)
            state = .off
            return actions
        case .received(let message, _): return received(message, now: now)
        case .addressChecked:
            guard case .checking(let lease) = state else { return [] }
            state = .bound(lease)
            return [.bound(lease)]
        case .addressInConflict: return addressInConflict(now: now)
        case .resumed:
            if case .off = state { return [] }
            return begin(spread: false, now: now)
        }
    }
}

extension DHCPLease {
    var renews: Instant? { renewal.map { obtained + $0 } }
    var rebinds: Instant? { rebinding.map { obtained + $0 } }
}
