/// How much of a plug those may use who have proved nothing yet.
public struct AdmissionLimits: Hashable, Sendable {
    /// What somebody may have at a time.
    public struct Allowance: Hashable, Sendable {
        /// Handshakes under way.
        public var handshakes: Int
        /// Connections that are not those of a paired controller, handshakes included.
        public var connections: Int
        /// New connections at once, before they come one in each `interval`.
        public var burst: Int
        public var interval: Duration

        public init(handshakes: Int, connections: Int, burst: Int, interval: Duration) {
            self.handshakes = handshakes
            self.connections = connections
            self.burst = burst
            self.interval = interval
        }
    }

    /// All addresses together from which no paired controller came lately. A handshake costs a plug some milliseconds of its
    /// processor and a connection some 60 KB: whoever floods a plug gets at most 3 % of the one and 1.5 MB of the other.
    public var strangers = Allowance(handshakes: 8, connections: 24, burst: 16, interval: .milliseconds(125))
    /// One such address. It is far below what all have together, so that one address alone never uses up everybody's.
    public var stranger = Allowance(handshakes: 3, connections: 6, burst: 6, interval: .seconds(1))
    /// An address from which a paired controller came: room that no stranger can take, and enough for scripts that connect
    /// anew for each command. Yet a limit, since someone else may sit at that address too.
    public var pairedAddress = Allowance(handshakes: 4, connections: 12, burst: 40, interval: .milliseconds(50))
    /// Such addresses; the one that was heard of longest ago makes place. Stops a controller that changes its address with
    /// every connection from having room everywhere. As many as there can be controllers.
    public var pairedAddresses = 16
    /// Of them, those of one controller. Stops one that changes its address from pushing out the addresses of all others.
    public var addressesOfController = 2
    /// From the connection to the end of the handshake: stops half-open ones from keeping places for ever.
    public var handshakeTime = Duration.seconds(5)
    /// From the end of the handshake until the connection is known as a paired controller's: more than the 45 s in which one has
    /// to say something and the 30 s for which its proof may have to wait. Stops a stranger from sitting in his place.
    public var pairingTime = Duration.seconds(120)
    /// Bytes that come in until the connection is known as a paired controller's, those of TLS included: some 2 KB are a
    /// handshake. Stops a stranger from making the plug decrypt and parse at the speed of the network.
    public var bytes = 64 * 1024

    public init() {}
}
