/// An address of an interface.
public struct LinuxAddress: Sendable, Hashable {
    /// How far duplicate address detection is (RFC 4862 §5.4). IPv4 addresses are usable at once, as far as the kernel goes.
    public enum State: Int, Sendable, Hashable {
        case tentative
        /// Another host on the link has it.
        case duplicate
        case usable
    }

    /// Who gave it to the interface.
    public enum Origin: Int, Sendable, Hashable {
        /// A person, or a program that says nothing of itself.
        case unknown
        /// The kernel: loopback, link-local addresses, what routers announce.
        case kernel
        /// This project's firmware, by the mark that ``RouteProtocol/plug`` is.
        case plug
    }

    /// In network order: 4 bytes are IPv4, 16 are IPv6.
    public let bytes: [UInt8]
    /// Length of the network's prefix in bits.
    public let prefixLength: UInt8
    public let state: State
    public let origin: Origin
    /// Nothing new should begin from it (RFC 4862 §5.5.4); what lives on it goes on.
    public let isDeprecated: Bool

    public init(
        bytes: [UInt8], prefixLength: UInt8, state: State = .usable, origin: Origin = .unknown,
        isDeprecated: Bool = false
    ) {
        self.bytes = bytes
        self.prefixLength = prefixLength
        self.state = state
        self.origin = origin
        self.isDeprecated = isDeprecated
    }

    /// Whether packets may be sent from it.
    public var isUsable: Bool { state == .usable }
    public var isIPv6: Bool { bytes.count == 16 }
}

extension LinuxAddress: Comparable {
    public static func < (left: LinuxAddress, right: LinuxAddress) -> Bool {
        guard left.bytes.count == right.bytes.count else { return left.bytes.count < right.bytes.count }
        guard left.bytes == right.bytes else { return left.bytes.lexicographicallyPrecedes(right.bytes) }
        guard left.prefixLength == right.prefixLength else { return left.prefixLength < right.prefixLength }
        guard left.state == right.state else { return left.state.rawValue < right.state.rawValue }
        guard left.origin == right.origin else { return left.origin.rawValue < right.origin.rawValue }
        return !left.isDeprecated && right.isDeprecated
    }
}
