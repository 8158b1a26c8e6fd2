public import DNSWire

extension IPv4Address {
    /// 0.0.0.0: no address, or the whole address space.
    public static let any = IPv4Address(0, 0, 0, 0)
    /// 255.255.255.255: all hosts on the link.
    public static let broadcast = IPv4Address(255, 255, 255, 255)

    /// Returns the mask with this number of bits, at most 32.
    public static func mask(prefixLength: UInt8) -> IPv4Address {
        precondition(prefixLength <= 32, "a prefix of \(prefixLength) bits")
        // A shift by 32 bits results in zero in Swift, which is the mask of zero bits.
        return IPv4Address(rawValue: UInt32.max << UInt32(32 - prefixLength))
    }

    /// The number of bits of this mask; nil if its ones are not contiguous at the start.
    public var maskLength: UInt8? {
        let length = (~rawValue).leadingZeroBitCount
        return self == .mask(prefixLength: UInt8(length)) ? UInt8(length) : nil
    }

    /// Returns the first address of the network with this prefix.
    public func network(prefixLength: UInt8) -> IPv4Address {
        IPv4Address(rawValue: rawValue & IPv4Address.mask(prefixLength: prefixLength).rawValue)
    }

    /// Returns the last address of the network with this prefix, its broadcast address.
    public func broadcast(prefixLength: UInt8) -> IPv4Address {
        IPv4Address(rawValue: rawValue | ~IPv4Address.mask(prefixLength: prefixLength).rawValue)
    }

    /// Returns true if both addresses are in one network with this prefix.
    public func shares(prefixLength: UInt8, with other: IPv4Address) -> Bool {
        network(prefixLength: prefixLength) == other.network(prefixLength: prefixLength)
    }
}
