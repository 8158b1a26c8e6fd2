/// An address of an interface.
public struct LinuxAddress: Sendable, Hashable {
    /// The state of duplicate address detection (RFC 4862 section 5.4). The kernel makes IPv4 addresses usable
    /// immediately.
    public enum State: Int, Sendable, Hashable {
        case tentative
        /// Another host on the link has the address.
        case duplicate
        case usable
    }

    /// The origin of the address.
    public enum Origin: Int, Sendable, Hashable {
        /// The administrator, or a program that does not identify itself.
        case unknown
        /// The kernel: loopback, link-local addresses, router advertisements.
        case kernel
        /// This project's firmware, which marks its addresses with ``RouteProtocol/plug``.
        case plug
    }

    /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
    public let bytes: [UInt8]
    /// The length of the network prefix in bits.
    public let prefixLength: UInt8
    /// The state of duplicate address detection.
    public let state: State
    /// The origin of the address.
    public let origin: Origin
    /// True if new connections should not use the address (RFC 4862 section 5.5.4); existing ones continue.
    public let isDeprecated: Bool

    /// Creates an address.
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

    /// True if packets may be sent from the address.
    public var isUsable: Bool { state == .usable }
    /// True for an IPv6 address.
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
