/// A network interface as the kernel describes it.
public struct LinuxInterface: Sendable, Hashable {
    /// The kernel's number, never given to another interface while this one exists.
    public let index: Int32
    public var name: String
    public var flags: Flags
    /// The link-layer address: 6 bytes on Ethernet and Wi-Fi, empty where there is none.
    public var hardwareAddress: [UInt8]
    /// How often the carrier came or went. Between two descriptions that both say "running", a different count tells that
    /// the link was lost and is now perhaps another network.
    public var carrierChanges: UInt32
    /// Sorted, IPv4 before IPv6.
    public var addresses: [LinuxAddress]

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

    /// Flags of netdevice(7), with the kernel's bits.
    public struct Flags: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Switched on by the administrator.
        public static let up = Flags(rawValue: 0x1)
        public static let loopback = Flags(rawValue: 0x8)
        public static let pointToPoint = Flags(rawValue: 0x10)
        /// The link is there: a cable is plugged in, the radio is associated.
        public static let running = Flags(rawValue: 0x40)
        public static let multicast = Flags(rawValue: 0x1000)
    }

    /// Packets can pass: switched on, and the link is there.
    public var isOperational: Bool { flags.isSuperset(of: [.up, .running]) }
}

/// Which interfaces a program works on.
public enum InterfaceFilter: Sendable, Hashable {
    /// Every interface that can multicast, except loopback.
    case multicastCapable
    /// These and no others, loopback included if it is named; they may appear later.
    case named(Set<String>)
    /// All that there are, for whoever only looks at them.
    case every

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
