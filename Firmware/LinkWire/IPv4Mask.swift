public import DNSWire

extension IPv4Address {
    /// 0.0.0.0: no address yet, or everything.
    public static let any = IPv4Address(0, 0, 0, 0)
    /// 255.255.255.255: everybody on the link.
    public static let broadcast = IPv4Address(255, 255, 255, 255)

    /// The mask of so many bits, at most 32.
    public static func mask(prefixLength: UInt8) -> IPv4Address {
        precondition(prefixLength <= 32, "a prefix of \(prefixLength) bits")
        // Shifting by all 32 bits gives zero in Swift, which is the mask of no bits.
        return IPv4Address(rawValue: UInt32.max << UInt32(32 - prefixLength))
    }

    /// The bits of this mask; nil when its ones are not all at its beginning.
    public var maskLength: UInt8? {
        let length = (~rawValue).leadingZeroBitCount
        return self == .mask(prefixLength: UInt8(length)) ? UInt8(length) : nil
    }

    /// The first address of the network of this prefix.
    public func network(prefixLength: UInt8) -> IPv4Address {
        IPv4Address(rawValue: rawValue & IPv4Address.mask(prefixLength: prefixLength).rawValue)
    }

    /// The last address of the network of this prefix, which reaches everybody in it.
    public func broadcast(prefixLength: UInt8) -> IPv4Address {
        IPv4Address(rawValue: rawValue | ~IPv4Address.mask(prefixLength: prefixLength).rawValue)
    }

    /// Both are in one network of this prefix.
    public func shares(prefixLength: UInt8, with other: IPv4Address) -> Bool {
        network(prefixLength: prefixLength) == other.network(prefixLength: prefixLength)
    }
}
