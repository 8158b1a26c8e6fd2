package import DNSWire
import PortMapping

/// The routers of the kernel's routes, from /proc/net/route and /proc/net/ipv6_route.
package enum DefaultRouters {
    /// Returns the next hops of all routes through the interface. A table that cannot be read counts as empty.
    package static func all(of interface: String) -> Set<IPAddress> {
        let v4 = procFile("/proc/net/route") ?? ""
        let v6 = procFile("/proc/net/ipv6_route") ?? ""
        return version4(v4, interface).union(version6(v6, interface))
    }

    /// Returns the router of the default route with the lowest metric, and the address that this host has on its link;
    /// nil without such a route. Only routes through the given interfaces count.
    static func gateway(_ table: String, of interfaces: [LinuxInterface]) -> Gateway? {
        let routes = table.split(separator: "\n").compactMap { line -> (metric: Int, gateway: Gateway)? in
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000",
                let value = UInt32(fields[2], radix: 16), value != 0, let metric = Int(fields[6]),
                let interface = interfaces.first(where: { $0.name == fields[0] && $0.isOperational })
            else { return nil }
            let router = IPAddress.v4(IPv4Address(rawValue: value.bigEndian))
            let own = interface.addresses.first { address in
                !address.isIPv6 && address.isUsable && NetworkPrefix(address)?.contains(router) == true
            }
            guard let host = own.flatMap({ IPAddress(bytes: $0.bytes) }) else { return nil }
            return (metric, Gateway(router: router, host: host))
        }
        return routes.min { $0.metric < $1.metric }?.gateway
    }

    /// Returns the router of the IPv6 default route with the lowest metric, and a global address that this host has on
    /// its link; nil without such a route or address. Only routes through the given interfaces count.
    ///
    /// - Parameter former: the address to use as long as this host has it, so that a new temporary address changes
    ///   nothing.
    static func gateway6(_ table: String, of interfaces: [LinuxInterface], keeping former: IPAddress?) -> Gateway? {
        let routes = table.split(separator: "\n").compactMap { line -> (metric: UInt32, gateway: Gateway)? in
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count == 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00", fields[3] == "00",
                let router = version6(fields[4]), let metric = UInt32(fields[5], radix: 16),
                let interface = interfaces.first(where: { $0.name == fields[9] && $0.isOperational })
            else { return nil }
            let addresses = interface.addresses.filter { $0.isUsable && !$0.isDeprecated }
                .compactMap { IPAddress(bytes: $0.bytes) }.filter(\.isGlobalIPv6)
            guard let host = addresses.first(where: { $0 == former }) ?? addresses.first else { return nil }
            return (metric, Gateway(router: router, host: host, interface: UInt32(bitPattern: interface.index)))
        }
        return routes.min { $0.metric < $1.metric }?.gateway
    }

    /// A line has the interface, the destination, the gateway (both in the byte order of the machine) and more.
    static func version4(_ table: String, _ interface: String) -> Set<IPAddress> {
        let gateways = table.split(separator: "\n").compactMap { line -> IPAddress? in
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 2, fields[0] == interface, let gateway = UInt32(fields[2], radix: 16), gateway != 0
            else { return nil }
            return .v4(IPv4Address(rawValue: gateway.bigEndian))
        }
        return Set(gateways)
    }

    /// A line has the destination with its prefix length, the source with its prefix length, the next hop and more;
    /// the interface is last.
    static func version6(_ table: String, _ interface: String) -> Set<IPAddress> {
        let gateways = table.split(separator: "\n").compactMap { line -> IPAddress? in
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count == 10, fields[9] == interface else { return nil }
            return version6(fields[4])
        }
        return Set(gateways)
    }

    /// Parses the 32 hexadecimal digits of an address. Returns nil for other text and for the unspecified address.
    private static func version6(_ text: Substring) -> IPAddress? {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        let bytes = stride(from: 0, to: 32, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
        guard bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return nil }
        return IPAddress(bytes: bytes)
    }
}

extension IPAddress {
    /// True for 2000::/3, the addresses that hosts on the internet can have (RFC 4291 §2.4).
    fileprivate var isGlobalIPv6: Bool {
        switch self {
        case .v4: false
        case .v6(let address): address.high >> 61 == 1
        }
    }
}
