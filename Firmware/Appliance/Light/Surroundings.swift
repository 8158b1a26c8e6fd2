import PlugModel

/// What an appliance cannot know by itself and shows by its light.
public struct Surroundings: Hashable, Sendable {
    public enum Network: Hashable, Sendable {
        /// Nobody can reach it.
        case none
        /// Reached from its own link alone.
        case linkLocal
        case routable
    }

    /// At least one controller may command it.
    public var isPaired: Bool
    /// It lets itself be paired now.
    public var isPairingOpen: Bool
    /// Nil: nobody has said.
    public var network: Network?
    /// A paired controller is connected.
    public var isConnected: Bool

    public init(isPaired: Bool, isPairingOpen: Bool, network: Network?, isConnected: Bool) {
        self.isPaired = isPaired
        self.isPairingOpen = isPairingOpen
        self.network = network
        self.isConnected = isConnected
    }
}

extension Surroundings.Network {
    /// Where the plug can be reached through all of these; what no other host can reach does not count.
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
