/// A network interface, as the kernel describes it.
public struct LinuxInterface: Sendable, Hashable {
    /// The kernel's index. It is unique among existing interfaces.
    public let index: Int32
    /// The current name.
    public var name: String
    /// The flags of the interface.
    public var flags: Flags
    /// The link-layer address: 6 bytes on Ethernet and Wi-Fi; empty if the link has no addresses.
    public var hardwareAddress: [UInt8]
    /// The number of carrier changes. If the number differs between two descriptions that both have ``Flags/running``,
    /// the link was lost in between and may lead to a different network now.
    public var carrierChanges: UInt32
    /// The addresses, sorted, IPv4 before IPv6.
    public var addresses: [LinuxAddress]

    /// Creates a description.
    public init(
        index: Int32, name: String, flags: Flags, hardwareAddress: [UInt8] = [], carrierChanges: UInt32 = 0,
        addresses: [LinuxAddress] = []
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.hardwareAddress = hardwareAddress
        self.carrierChanges = carrierChanges
        self.addresses = addresses
    }

    /// The flags of netdevice(7), with the kernel's values.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The kernel's bits.
        public let rawValue: UInt32
        /// Creates flags from the kernel's bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// IFF_UP: the administrator has set the interface up.
        public static let up = Flags(rawValue: 0x1)
        /// IFF_LOOPBACK
        public static let loopback = Flags(rawValue: 0x8)
        /// IFF_POINTOPOINT
        public static let pointToPoint = Flags(rawValue: 0x10)
        /// IFF_RUNNING: the link is available; a cable is connected, or the radio is associated.
        public static let running = Flags(rawValue: 0x40)
        /// IFF_MULTICAST
        public static let multicast = Flags(rawValue: 0x1000)
    }

    /// True if packets can pass: the interface is up, and its link is available.
    public var isOperational: Bool { flags.isSuperset(of: [.up, .running]) }
}

/// The interfaces that a program uses.
public enum InterfaceFilter: Sendable, Hashable {
    /// Every interface with multicast, except loopback.
    case multicastCapable
    /// Only interfaces with these names, which may include loopback. The interfaces may appear later.
    case named(Set<String>)
    /// All interfaces, for programs that only inspect them.
    case every

    /// Returns true if the filter includes the interface.
    public func admits(_ interface: LinuxInterface) -> Bool {
        switch self {
        case .multicastCapable: interface.flags.contains(.multicast) && !interface.flags.contains(.loopback)
        case .named(let names): names.contains(interface.name)
        case .every: true
        }
    }
}

extension InterfaceFilter: CustomStringConvertible {
    public var description: String {
        switch self {
        case .multicastCapable: "any that can multicast"
        case .named(let names): names.sorted().joined(separator: ", ")
        case .every: "any"
        }
    }
}
