public import DNSWire
public import LinkWire
public import ProtocolCore

/// Gets an address from a DHCP server and keeps it (RFC 2131 §4.4, client): a machine for one interface.
///
/// It never gives up: without an answer it goes on at a low rate.
public struct DHCPClient: Machine, Sendable {
    public enum Event: MachineEvent, Hashable, Sendable {
        case deadlineReached
        /// The link is there, perhaps to another network than before.
        /// - isPowerOn: many machines may start at this very moment, so that the first message waits for a random time up to a
        ///   second (``RFC2131/startSpread``); else it goes at once.
        case linkUp(isPowerOn: Bool)
        case linkDown
        /// A message, and the address that it came from, which may be a relay's.
        case received(DHCPMessage, from: IPv4Address)
        /// Nobody has the address of the last ``Action/check(_:)``.
        case addressChecked
        /// Somebody else has the address of the last ``Action/check(_:)``, or the lease's own could not be defended.
        case addressInConflict
        /// The host slept: the lease is asked for anew, as after a lost link.
        case resumed
    }

    public enum Action: Hashable, Sendable {
        /// To 255.255.255.255, past the kernel, from the message's `clientAddress`, which is 0.0.0.0 without a lease.
        case broadcast(DHCPMessage)
        /// By the kernel's routes.
        case send(DHCPMessage, from: IPv4Address, to: IPv4Address)
        /// To be probed before its use; answered with ``Event/addressChecked`` or ``Event/addressInConflict``. Until then, or
        /// until the next action, it may not be used. Without an answer it ends with the lease.
        case check(DHCPLease)
        /// The lease may be used. Again at each renewal, then with the same address, and what else changed.
        case bound(DHCPLease)
        /// The lease that was last bound may be used no more. Once for each lease, also when the link is lost: it is asked for
        /// again when the link is back, and bound anew if a server agrees.
        case lost(AddressingNotice.LeaseEnd)
    }

    public struct Configuration: Hashable, Sendable {
        public var hardwareAddress: MACAddress
        /// Without a domain; not sent unless it has 1 to 63 bytes.
        public var hostName: String
        /// RFC 4361 §6.1: with its type.
        public var clientIdentifier: [UInt8]
        /// From before a restart; asked for first.
        public var remembered: RememberedLease?
        public var seed: UInt64

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
        /// No link.
        case off
        /// INIT, until the time to begin has come.
        case initial(at: Instant)
        /// An offer of a server that disappointed before waits for a better one.
        case selecting(DHCPExchange, fallback: DHCPLease?)
        case requesting(DHCPExchange, offer: DHCPLease)
        /// INIT-REBOOT, until the time to begin has come.
        case initReboot(at: Instant, IPv4Address)
        case rebooting(DHCPExchange, IPv4Address)
        /// Acknowledged by the server, but not yet probed.
        case checking(DHCPLease)
        case bound(DHCPLease)
        case renewing(DHCPLease, DHCPExchange)
        case rebinding(DHCPLease, DHCPExchange)
    }

    /// The last lease, which is asked for first.
    struct Candidate: Hashable, Sendable {
        var address: IPv4Address
        /// After this it is only a wish; nil: unknown, or never.
        var expires: Instant?
    }

    let configuration: Configuration
    var state = State.off
    var candidate: Candidate?
    var random: SeededRandom
    /// When the client began to look for an address.
    var searchBegan = Instant.zero
    var backoff = DHCPBackoff()
    var starts = DHCPStartLimit()
    /// Addresses that somebody else had.
    var declined = RecentValues<IPv4Address>()
    /// Servers that did not stand by their offer.
    var avoided = RecentValues<IPv4Address>()

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

    public var status: AddressingStatus.DHCP {
        if case .off = state { return .off }
        guard let lease else { return .searching }
        return .leased(
            AddressingStatus.Lease(
                address: lease.address, prefixLength: lease.prefixLength, server: lease.server,
                router: lease.routers.first, expires: lease.expires))
    }

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
