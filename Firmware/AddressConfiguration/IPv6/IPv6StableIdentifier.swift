import Crypto
public import DNSWire

/// The interface identifier of RFC 7217 §5. It is stable across starts, differs per interface and per plug, and reveals
/// nothing about the plug. It is used if the kernel creates no link-local address, or a duplicate.
public enum IPv6StableIdentifier {
    /// Returns the link-local address in fe80::/64 with the identifier.
    ///
    /// - Parameters:
    ///   - interface: the interface's name, such as "eth0" (Net_Iface).
    ///   - attempt: the number of previous duplicates (DAD_Counter).
    ///   - secret: at least 16 secret bytes (secret_key, 128 bits).
    public static func linkLocalAddress(interface: String, attempt: UInt8, secret: [UInt8]) -> IPv6Address {
        var counter = attempt
        while true {
            let identifier = identifier(interface, counter, secret)
            // An identifier is reserved in about one of 2^50 cases. The RFC requires the next counter then.
            if !isReserved(identifier) { return IPv6Address(high: 0xFE80_0000_0000_0000, low: identifier) }
            counter &+= 1
        }
    }

    /// Computes RID: F of the prefix, the interface, an empty network id, the counter and the secret, each with its
    /// length so that the input is unambiguous. The identifier is its last 64 bits.
    private static func identifier(_ interface: String, _ counter: UInt8, _ secret: [UInt8]) -> UInt64 {
        let prefix: [UInt8] = [0xFE, 0x80, 0, 0, 0, 0, 0, 0]
        var hash = SHA256()
        for part in [prefix, Array(interface.utf8), [], [counter], secret] {
            hash.update(data: [UInt8(truncatingIfNeeded: part.count)])
            hash.update(data: part)
        }
        return hash.finalize().suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns true for the reserved identifiers of RFC 5453: the subnet's routers, the proxies of mobile nodes, and
    /// the anycast addresses of a subnet.
    static func isReserved(_ identifier: UInt64) -> Bool {
        identifier == 0 || (0x0200_5EFF_FE00_0000...0x0200_5EFF_FE00_5213).contains(identifier)
            || (0xFDFF_FFFF_FFFF_FF80...0xFDFF_FFFF_FFFF_FFFF).contains(identifier)
    }
}
