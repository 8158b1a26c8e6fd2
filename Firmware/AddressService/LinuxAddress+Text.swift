import DNSWire
import LinuxNetwork

extension LinuxAddress {
    /// The address as text, such as "192.0.2.7" or "fe80::1".
    var text: String { IPAddress(bytes: bytes).map { "\($0)" } ?? "" }

    var isLinkLocalIPv6: Bool { isIPv6 && IPAddress(bytes: bytes)?.isLinkLocal == true }

    var version4: IPv4Address? {
        guard case .v4(let address)? = IPAddress(bytes: bytes) else { return nil }
        return address
    }

    var version6: IPv6Address? {
        guard case .v6(let address)? = IPAddress(bytes: bytes) else { return nil }
        return address
    }
}
