/// The resources of a plug that unauthenticated peers can use.
public struct AdmissionLimits: Hashable, Sendable {
    /// The limits for an address, or for a group of addresses.
    public struct Allowance: Hashable, Sendable {
        /// The maximum number of concurrent handshakes.
        public var handshakes: Int
        /// The maximum number of connections that are not known as paired, including those in a handshake.
        public var connections: Int
        /// The maximum number of new connections at once. After a burst one more is permitted per `interval`.
        public var burst: Int
        /// The time after which one more connection is permitted.
        public var interval: Duration

        /// Creates an allowance.
        public init(handshakes: Int, connections: Int, burst: Int, interval: Duration) {
            self.handshakes = handshakes
            self.connections = connections
            self.burst = burst
            self.interval = interval
        }
    }

    /// The limits for all addresses without a recently connected paired controller, together. A handshake costs a plug
    /// some milliseconds of CPU time, and a connection about 60 KB. So a flood uses at most 3 % of the CPU and 1.5 MB
    /// of memory.
    public var strangers = Allowance(handshakes: 8, connections: 24, burst: 16, interval: .milliseconds(125))
    /// The limits for a single address without a recently connected paired controller. They are far below
    /// ``strangers``, so that one address cannot block the others.
    public var stranger = Allowance(handshakes: 3, connections: 6, burst: 6, interval: .seconds(1))
    /// The limits for all addresses of other networks without a recently connected paired controller, together. They are
    /// separate from ``strangers``, so that a flood from the internet does not keep a controller at home from connecting,
    /// and stricter, because far more hosts can cause it.
    public var distantStrangers = Allowance(handshakes: 2, connections: 6, burst: 4, interval: .milliseconds(500))
    /// The limits for a single address of another network.
    public var distantStranger = Allowance(handshakes: 1, connections: 2, burst: 3, interval: .seconds(5))
    /// The limits for an address with a recently connected paired controller. Connections of strangers at other
    /// addresses do not count towards these limits. The limits suffice for scripts that open a connection per command.
    /// An address of a paired controller has limits too, because other hosts may share it.
    public var pairedAddress = Allowance(handshakes: 4, connections: 12, burst: 40, interval: .milliseconds(50))
    /// The maximum number of addresses with paired controllers, equal to the maximum number of controllers. The least
    /// recently used one is evicted. The limit keeps a controller that changes its address with every connection from
    /// collecting an allowance for each address.
    public var pairedAddresses = 16
    /// The maximum number of addresses that are remembered per controller. Without this limit a controller with
    /// changing addresses could evict the addresses of other controllers.
    public var addressesOfController = 2
    /// The time limit of the handshake. The limit keeps half-open connections from using up the permitted handshakes
    /// forever.
    public var handshakeTime = Duration.seconds(5)
    /// The time from the end of the handshake until the connection must be known as paired. It is longer than the 45 s
    /// until Hello plus the delay of up to 30 s for a proof. The limit keeps strangers from using up the permitted
    /// connections.
    public var pairingTime = Duration.seconds(120)
    /// The maximum number of bytes received before the connection is known as paired, including TLS; a handshake has
    /// about 2 KB. Without this limit a stranger could make the plug decrypt and parse data at the speed of the
    /// network.
    public var bytes = 64 * 1024

    /// Creates the default limits.
    public init() {}
}
