package import DNSWire

/// Lists the local IPv4 addresses of the TCP connections of this host.
package enum ConnectionEnds {
    /// Returns the local IPv4 addresses of the TCP connections in this network namespace, including connections that
    /// are being opened or closed. A connection in TIME_WAIT is not included, because it no longer needs its address.
    package static func local() -> Set<IPv4Address> {
        Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { parse(procFile($0) ?? "") })
    }

    /// The states of tcp_states.h that are not connections or no longer need their address: TIME_WAIT, CLOSE, LISTEN.
    private static let over: Set<Substring> = ["06", "07", "0A"]

    /// Parses a table of /proc. Skips lines that do not have the format that the kernel uses since 2.6.
    static func parse(_ text: String) -> [IPv4Address] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, !over.contains(fields[3]) else { return nil }
            return fields[1].split(separator: ":").first.flatMap(version4)
        }
    }

    /// Parses an address. The kernel prints each 32 bits in its own byte order. A dual-stack socket has IPv4 addresses
    /// as ::ffff:a.b.c.d. Returns nil for any other IPv6 address.
    private static func version4(_ digits: Substring) -> IPv4Address? {
        let isMapped =
            digits.count == 32 && digits.hasPrefix("0000000000000000") && word(digits.dropFirst(16).prefix(8)) == 0xFFFF
        guard digits.count == 8 || isMapped else { return nil }
        return word(digits.suffix(8)).map(IPv4Address.init(rawValue:))
    }

    private static func word(_ digits: Substring) -> UInt32? { UInt32(digits, radix: 16).map(UInt32.init(bigEndian:)) }
}
