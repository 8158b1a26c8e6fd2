import Crypto
public import DNSWire

/// The interface identifier of RFC 7217 §5: the same on each start, another on each interface and each plug, and nothing to read
/// from it. It stands where the kernel makes no link-local address, or made one that another host has.
public enum IPv6StableIdentifier {
    /// The link-local address fe80::/64 with the identifier.
    ///
    /// - Parameters:
    ///   - interface: the interface's name, "eth0" (Net_Iface).
    ///   - attempt: how many addresses were duplicates before (DAD_Counter).
    ///   - secret: at least 16 bytes that nobody else knows (secret_key, 128 bits).
    public static func linkLocalAddress(interface: String, attempt: UInt8, secret: [UInt8]) -> IPv6Address {
        var counter = attempt
        while true {
            let identifier = identifier(interface, counter, secret)
            // Each draw hits a reserved one in 2^56 cases; the RFC asks for the next counter then.
            if !isReserved(identifier) { return IPv6Address(high: 0xFE80_0000_0000_0000, low: identifier) }
            counter &+= 1
        }
    }

    /// RID: F of the prefix, the interface, an empty network id, the counter and the secret, each behind its length, so that no
    /// two inputs look alike. The identifier is its last 64 bits.
    private static func identifier(_ interface: String, _ counter: UInt8, _ secret: [UInt8]) -> UInt64 {
        let prefix: [UInt8] = [0xFE, 0x80, 0, 0, 0, 0, 0, 0]
        var hash = SHA256()
        for part in [prefix, Array(interface.utf8), [], [counter], secret] {
            hash.update(data: [UInt8(truncatingIfNeeded: part.count)])
            hash.update(data: part)
        }
        return hash.finalize().suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// RFC 5453: the subnet's routers, the proxies of mobile nodes, and the anycast addresses of a subnet.
    static func isReserved(_ identifier: UInt64) -> Bool {
        identifier == 0 || (0x0200_5EFF_FE00_0000...0x0200_5EFF_FE00_5213).contains(identifier)
            || (0xFDFF_FFFF_FFFF_FF80...0xFDFF_FFFF_FFFF_FFFF).contains(identifier)
    }
}
