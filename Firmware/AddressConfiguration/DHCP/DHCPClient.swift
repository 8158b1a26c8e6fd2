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

    let configuration: Configuration

    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// The lease in use.
    public var lease: DHCPLease? { nil }

    public var nextDeadline: Instant? { nil }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] { [] }
}
