public import DNSWire
public import MulticastDNS

/// The name servers of a host, and its search domains.
public struct ResolverConfiguration: Hashable, Sendable {
    /// The servers in the order of preference, at most ``serverLimit``.
    public let servers: [Peer]
    /// The search domains in their order, at most ``searchLimit``. Only the enumeration of domains uses them: the names of
    /// services are complete.
    public let searchDomains: [Name]

    /// The limit of servers. More servers would only make a failure last longer.
    public static let serverLimit = 4
    /// The limit of search domains, which is that of the C library.
    public static let searchLimit = 6
    /// The UDP and TCP port of name servers (RFC 1035 §4.2).
    public static let port: UInt16 = 53

    /// Creates a configuration. Repeated servers and domains, and those above the limits, are left out.
    public init(servers: [Peer] = [], searchDomains: [Name] = []) {
        var seen: Set<Peer> = []
        self.servers = Array(servers.filter { seen.insert($0).inserted }.prefix(Self.serverLimit))
        var seenDomains: Set<Name> = []
        self.searchDomains = Array(
            searchDomains.filter { $0 != .root && seenDomains.insert($0).inserted }.prefix(Self.searchLimit))
    }

    /// Parses the text of resolv.conf(5). Lines that are not valid are ignored, as the C library does. The last line
    /// with search domains replaces the earlier ones.
    ///
    /// - Parameter address: parses the text of an address.
    public init(resolvConf text: String, address: (Substring) -> IPAddress?) {
        var servers: [Peer] = []
        var domains: [Name] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1 else { continue }
            switch words[0] {
            case "nameserver":
                if let address = address(words[1]) { servers.append(Peer(address: address, port: Self.port)) }
            case "search": domains = words.dropFirst().compactMap { try? Name(presentation: String($0)) }
            case "domain": domains = [words[1]].compactMap { try? Name(presentation: String($0)) }
            default: break
            }
        }
        self.init(servers: servers, searchDomains: domains)
    }
}
