public import DNSWire
public import LinuxClocks
public import LinuxNetwork
public import PlugModel
import ProtocolCore

/// What was seen of the host, its network and its plugs within a few seconds.
public struct Observations: Sendable {
    /// All of the host.
    public var interfaces: [LinuxInterface] = []
    /// Those that are to be used.
    public var filter: InterfaceFilter
    public var links: [Link] = []
    /// Who else has the port of multicast DNS open.
    public var portHolders: [PortHolder] = []
    /// Plugs that are announced, by name.
    public var services: [Service] = []
    public var clock: Clock
    public var plugs: [Plug] = []
    /// Why it is not known which plugs are paired, or with which key to speak to them.
    public var controllerFault: String?
    /// Why the daemon of this machine keeps away from a plug, with a `hint:` line.
    public var keptAway: [PlugID: String] = [:]
    /// How long announcements and answers were waited for.
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
        /// Why nothing can be heard there.
        public var fault: String?
        /// Whether the kernel says so; nil where it cannot be asked.
        public var isMember: Bool?
        /// Packets of this host that came back.
        public var own = 0
        /// Other hosts that were heard.
        public var others: Set<IPAddress> = []

        public init(interface: String, family: IPFamily) {
            self.interface = interface
            self.family = family
        }
    }

    /// A plug that is announced.
    public struct Service: Hashable, Sendable {
        public var name: String
        public var interfaces: [String]
        public var id: PlugID?
        /// Of the protocol, as it says itself.
        public var version: String?
        public var isPaired: Bool
        /// Nil when it did not answer.
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

    /// A plug that is paired.
    public struct Plug: Hashable, Sendable {
        /// Of the time when it was paired.
        public var name: String
        public var id: PlugID
        /// What it is called now; nil when it is not announced.
        public var announcedAs: String?
        public var outcome: Outcome
        /// How its firmware ended last that did not end in order, as it says itself; its time is on this host's clock.
        public var crash: PlugCrash?

        public enum Outcome: Hashable, Sendable {
            case absent
            /// It proved the key that is pinned, and answered in this time; nil when it did not answer what it was asked.
            /// `tripped`: what locked its relay open.
            case connected(roundTrip: Duration?, tripped: Protection? = nil)
            /// Neither a connection nor a reason came.
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
