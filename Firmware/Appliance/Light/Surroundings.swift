import PlugModel

/// The state of pairing and network that the appliance shows on its light.
public struct Surroundings: Hashable, Sendable {
    /// How other hosts can reach the plug.
    public enum Network: Hashable, Sendable {
        /// No address that another host can reach.
        case none
        /// Only link-local addresses.
        case linkLocal
        /// At least one routable address.
        case routable
    }

    /// True if at least one controller is paired.
    public var isPaired: Bool
    /// True while the pairing window is open.
    public var isPairingOpen: Bool
    /// The state of the network, or nil if it is unknown.
    public var network: Network?
    /// True while a paired controller is connected.
    public var isConnected: Bool
    /// True while the router maps the plug's port to a public address, so that hosts on the internet can connect.
    public var isReachable: Bool

    /// Creates a state.
    public init(
        isPaired: Bool, isPairingOpen: Bool, network: Network?, isConnected: Bool, isReachable: Bool = false
    ) {
        self.isPaired = isPaired
        self.isPairingOpen = isPairingOpen
        self.network = network
        self.isConnected = isConnected
        self.isReachable = isReachable
    }
}

extension Surroundings.Network {
    /// Determines the best address of all networks. Loopback addresses do not count.
    init(_ networks: [PlugNetwork]) {
        var best = Self.none
        for address in networks.flatMap(\.addresses) {
            if address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::1/") { continue }
            guard address.hasPrefix("169.254.") || address.lowercased().hasPrefix("fe80:") else {
                self = .routable
                return
            }
            best = .linkLocal
        }
        self = best
    }
}
