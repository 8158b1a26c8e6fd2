public import DNSWire
public import LinuxClocks
public import LinuxNetwork
public import PlugModel
import ProtocolCore

/// The observations of the host, its network and its plugs within a few seconds.
public struct Observations: Sendable {
    /// All interfaces of the host.
    public var interfaces: [LinuxInterface] = []
    /// The interfaces to use.
    public var filter: InterfaceFilter
    public var links: [Link] = []
    /// The other programs that have opened the port of multicast DNS.
    public var portHolders: [PortHolder] = []
    /// The announced plugs by name.
    public var services: [Service] = []
    public var clock: Clock
    public var plugs: [Plug] = []
    /// The reason why the paired plugs or the key for them are unknown.
    public var controllerFault: String?
    /// The reasons why the daemon of this machine does not follow a plug, with a `hint:` line.
    public var keptAway: [PlugID: String] = [:]
    /// The time of waiting for announcements and answers.
    public var wait: Duration

    public init(filter: InterfaceFilter, clock: Clock, wait: Duration) {
        self.filter = filter
        self.clock = clock
        self.wait = wait
    }

    /// Multicast in one family on one interface.
    public struct Link: Hashable, Sendable {
        public var interface: String
        public var family: IPFamily
        public var isLoopback = false
        /// The reason why nothing can be received.
        public var fault: String?
        /// True if the kernel is a member of the group; nil if unknown.
        public var isMember: Bool?
        /// The number of this host's own packets that were received.
        public var own = 0
        /// The other hosts whose packets were received.
        public var others: Set<IPAddress> = []

        public init(interface: String, family: IPFamily) {
            self.interface = interface
            self.family = family
        }
    }

    /// An announced plug.
    public struct Service: Hashable, Sendable {
        public var name: String
        public var interfaces: [String]
        public var id: PlugID?
        /// The protocol version that the plug reports.
        public var version: String?
        public var isPaired: Bool
        /// The location; nil if the plug did not answer.
        public var place: Place?

        public struct Place: Hashable, Sendable {
            public var host: String
            public var port: UInt16
            public var addresses: [IPAddress]

            public init(host: String, port: UInt16, addresses: [IPAddress]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        public init(
            name: String, interfaces: [String], id: PlugID?, version: String?, isPaired: Bool, place: Place?
        ) {
            self.name = name
            self.interfaces = interfaces
            self.id = id
            self.version = version
            self.isPaired = isPaired
            self.place = place
        }
    }

    /// The wall clock at the beginning and at the end.
    public struct Clock: Hashable, Sendable {
        public var first: ClockState
        public var last: ClockState

        public init(first: ClockState, last: ClockState) {
            self.first = first
            self.last = last
        }
    }

    /// A paired plug.
    public struct Plug: Hashable, Sendable {
        /// The name at the time of pairing.
        public var name: String
        public var id: PlugID
        /// The current name; nil if it is not announced.
        public var announcedAs: String?
        public var outcome: Outcome
        /// The last abnormal end of its firmware as the plug reports it, with the time on this host's clock.
        public var crash: PlugCrash?

        public enum Outcome: Hashable, Sendable {
            case absent
            /// The plug proved the pinned key and answered in this time; nil if it did not answer the request. `tripped` is the
            /// protection that locked its relay.
            case connected(roundTrip: Duration?, tripped: Protection? = nil)
            /// Neither a connection nor an error occurred.
            case silent
            case away(String)
            case incompatible(String)
            case distrusted(String)
        }

        public init(
            name: String, id: PlugID, announcedAs: String?, outcome: Outcome, crash: PlugCrash? = nil
        ) {
            self.name = name
            self.id = id
            self.announcedAs = announcedAs
            self.outcome = outcome
            self.crash = crash
        }
    }
}
