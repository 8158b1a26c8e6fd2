public import DNSWire
public import MulticastDNS

/// The name servers of a host.
public struct ResolverConfiguration: Hashable, Sendable {
    /// The servers in the order of preference, at most ``serverLimit``.
    public let servers: [Peer]

    /// The limit of servers. More servers would only make a failure last longer.
    public static let serverLimit = 4
    /// The UDP and TCP port of name servers (RFC 1035 §4.2).
    public static let port: UInt16 = 53

    /// Creates a configuration. Repeated servers, and those above the limit, are left out.
    public init(servers: [Peer] = []) {
        var seen: Set<Peer> = []
        self.servers = Array(servers.filter { seen.insert($0).inserted }.prefix(Self.serverLimit))
    }

    /// Parses the text of resolv.conf(5). Lines that are not valid are ignored, as the C library does.
    ///
    /// - Parameter address: parses the text of an address.
    public init(resolvConf text: String, address: (Substring) -> IPAddress?) {
        self.init(
            servers: text.split(whereSeparator: \.isNewline).compactMap { line in
                let words = line.split(whereSeparator: \.isWhitespace)
                guard words.count > 1, words[0] == "nameserver" else { return nil }
                return address(words[1]).map { Peer(address: $0, port: Self.port) }
            })
    }
}
