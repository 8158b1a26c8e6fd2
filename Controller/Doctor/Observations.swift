public import DNSWire
public import LinuxNetwork
public import LinuxSystem
public import PlugModel
import ProtocolCore
public import SleepClient

/// The observations of the host, its network and its plugs within a few seconds.
public struct Observations: Sendable {
    /// All interfaces of the host.
    public var interfaces: [LinuxInterface] = []
    /// The interfaces to use.
    public var filter: InterfaceFilter
    /// Multicast per interface and family.
    public var links: [Link] = []
    /// The other programs that have opened the port of multicast DNS.
    public var portHolders: [PortHolder] = []
    /// The domains in which plugs are searched in addition to `local`.
    public var domains: [Domain] = []
    /// The announced plugs by name.
    public var services: [Service] = []
    /// The wall clock at the start and the end of the examination.
    public var clock: Clock
    /// The paired plugs.
    public var plugs: [Plug] = []
    /// The reason why the paired plugs or the key for them are unknown.
    public var controllerFault: String?
    /// The reasons why the daemon of this machine does not follow a plug, with a `hint:` line.
    public var keptAway: [PlugID: String] = [:]
    /// The sleep proxies; nil if they were not examined.
    public var sleep: Sleep?
    /// The time for collecting announcements, and the time limit for a plug's answer.
    public var wait: Duration

    /// Creates observations without hosts and plugs.
    public init(filter: InterfaceFilter, clock: Clock, wait: Duration) {
        self.filter = filter
        self.clock = clock
        self.wait = wait
    }

    /// Multicast in one family on one interface.
    public struct Link: Hashable, Sendable {
        /// The name of the interface.
        public var interface: String
        /// The IP family.
        public var family: IPFamily
        /// True for the loopback interface.
        public var isLoopback = false
        /// The reason why nothing can be received.
        public var fault: String?
        /// True if this host is a member of the multicast group; nil if unknown.
        public var isMember: Bool?
        /// The number of this host's own packets that were received.
        public var own = 0
        /// The other hosts whose packets were received.
        public var others: Set<IPAddress> = []

        /// Creates the observations of a link that received nothing.
        public init(interface: String, family: IPFamily) {
            self.interface = interface
            self.family = family
        }
    }

    /// A domain of name servers.
    public struct Domain: Hashable, Sendable {
        /// The domain as text, such as "example.org".
        public var name: String
        /// The content of the domain.
        public var state: DomainState

        /// Creates a domain.
        public init(name: String, state: DomainState) {
            self.name = name
            self.state = state
        }
    }

    /// An announced plug.
    public struct Service: Hashable, Sendable {
        /// The announced name.
        public var name: String
        /// The names of the interfaces with the announcement.
        public var interfaces: [String]
        /// The id in the TXT record; nil if it is missing or not valid.
        public var id: PlugID?
        /// The protocol version that the plug reports.
        public var version: String?
        /// True if a paired plug has this id.
        public var isPaired: Bool
        /// The location; nil if the plug did not answer.
        public var place: Place?

        /// The host name, port and addresses of a service.
        public struct Place: Hashable, Sendable {
            /// The host name of the SRV record.
            public var host: String
            /// The TCP port.
            public var port: UInt16
            /// The addresses of the host.
            public var addresses: [IPAddress]

            /// Creates a location.
            public init(host: String, port: UInt16, addresses: [IPAddress]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        /// Creates an announced plug.
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

    /// The means to represent this machine while it sleeps.
    public struct Sleep: Hashable, Sendable {
        /// The announced sleep proxies.
        public var proxies: [FoundSleepProxy]
        /// The reason why the suspends of this machine cannot be followed, or nil.
        public var fault: String?

        /// Creates the observations.
        public init(proxies: [FoundSleepProxy], fault: String?) {
            self.proxies = proxies
            self.fault = fault
        }
    }

    /// The wall clock at the start and at the end of the examination.
    public struct Clock: Hashable, Sendable {
        /// The clock at the start.
        public var first: ClockState
        /// The clock at the end.
        public var last: ClockState

        /// Creates the observations of a clock.
        public init(first: ClockState, last: ClockState) {
            self.first = first
            self.last = last
        }
    }

    /// A paired plug.
    public struct Plug: Hashable, Sendable {
        /// The name at the time of pairing.
        public var name: String
        /// The plug's id.
        public var id: PlugID
        /// The current name; nil if it is not announced.
        public var announcedAs: String?
        /// The result of the contact.
        public var outcome: Outcome
        /// The last abnormal end of its firmware as the plug reports it, with the time on this host's clock.
        public var crash: PlugCrash?
        /// The results of mapping its port at its router.
        public var reachability: [Reachability]
        /// Its registration in a domain, or nil if it has none or does not report it.
        public var registration: DomainRegistration?

        /// The result of contacting a plug. The texts are messages for users, with an optional `hint:` line.
        public enum Outcome: Hashable, Sendable {
            /// The plug's id and its stored name are not announced.
            case absent
            /// The plug proved the pinned key and answered in this time; nil if it did not answer the request.
            /// `tripped` is the protection that locked its relay.
            case connected(roundTrip: Duration?, tripped: Protection? = nil)
            /// The time limit passed without a connection and without an error.
            case silent
            /// The connection failed or ended.
            case away(String)
            /// The plug and this controller have no common protocol version.
            case incompatible(String)
            /// The plug or this controller does not trust the other's key.
            case distrusted(String)
        }

        /// Creates the observations of a paired plug.
        public init(
            name: String, id: PlugID, announcedAs: String?, outcome: Outcome, crash: PlugCrash? = nil,
            reachability: [Reachability] = [], registration: DomainRegistration? = nil
        ) {
            self.name = name
            self.id = id
            self.announcedAs = announcedAs
            self.outcome = outcome
            self.crash = crash
            self.reachability = reachability
            self.registration = registration
        }
    }
}
