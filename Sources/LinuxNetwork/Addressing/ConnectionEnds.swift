package import DNSWire

/// Which of this host's addresses TCP connections are on, whatever program has them.
package enum ConnectionEnds {
    /// The IPv4 addresses at this end of the connections of this network namespace, also of those that are being opened or
    /// closed. One that only waits for stray packets (TIME_WAIT) needs its address no more.
    package static func local() -> Set<IPv4Address> {
        Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { parse(procFile($0) ?? "") })
    }

    /// States of tcp_states.h that are no connection, or none any more: TIME_WAIT, CLOSE, LISTEN.
    private static let over: Set<Substring> = ["06", "07", "0A"]

    /// Lines that do not look as the kernel has written them since 2.6 are left out.
    static func parse(_ text: String) -> [IPv4Address] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, !over.contains(fields[3]) else { return nil }
            return fields[1].split(separator: ":").first.flatMap(version4)
        }
    }

    /// The kernel prints each 32 bits in its own byte order. A socket for both families has IPv4 addresses as ::ffff:a.b.c.d.
    private static func version4(_ digits: Substring) -> IPv4Address? {
        let isMapped =
            digits.count == 32 && digits.hasPrefix("0000000000000000") && word(digits.dropFirst(16).prefix(8)) == 0xFFFF
        guard digits.count == 8 || isMapped else { return nil }
        return word(digits.suffix(8)).map(IPv4Address.init(rawValue:))
    }

    private static func word(_ digits: Substring) -> UInt32? { UInt32(digits, radix: 16).map(UInt32.init(bigEndian:)) }
}
