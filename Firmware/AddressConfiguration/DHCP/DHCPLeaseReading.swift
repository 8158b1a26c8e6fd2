import DNSWire
import ProtocolCore

/// Limits for the data of a DHCP server.
enum DHCPLeaseLimits {
    /// The minimum lease time; shorter ones are extended to it, because they would cause constant renewals. A lease
    /// time of zero is invalid.
    static let leastDuration = Duration.seconds(10)
    /// The maximum lease time. Longer leases are shortened to it, except unlimited ones.
    static let longestDuration = Duration.seconds(30 * 24 * 3600)
    /// The minimum of T1, and the limit that T2 must exceed, if the server sends these times. Shorter times are
    /// ignored, and the RFC's shares apply instead.
    static let leastRenewal = Duration.seconds(30)
    static let routers = 4
    static let routes = 32
    /// The limit of servers per kind. Resolvers use three.
    static let servers = 8
}

extension DHCPLease {
    /// Creates a lease from an offer or an acknowledgement. Returns nil if the server, the lease time or the address is
    /// missing or invalid. A lease time of zero is invalid, as is a link-local address or one that no host can have.
    init?(_ reply: DHCPMessage, obtained: Instant) {
        let options = reply.options
        guard let server = options.serverIdentifier, server.isHost, let seconds = options.leaseTime, seconds > 0,
            reply.yourAddress.isHost, !IPAddress.v4(reply.yourAddress).isLinkLocal
        else { return nil }
        let prefixLength = Self.prefixLength(of: reply)
        let network = LeasedNetwork(address: reply.yourAddress, prefixLength: prefixLength)
        guard network.hasRoomForItsAddress else { return nil }
        let ways = network.ways(options)
        let times = LeaseTimes(options, seconds: seconds)
        self.init(
            address: reply.yourAddress, prefixLength: prefixLength,
            broadcast: network.broadcast(told: options.broadcastAddress), server: server, routers: ways.routers,
            routes: ways.routes, servers: NetworkServers(options), duration: times.duration, renewal: times.renewal,
            rebinding: times.rebinding, obtained: obtained)
    }

    /// Returns the prefix length of the mask, or that of the address's class (RFC 791 §2.3) if the mask is missing or
    /// invalid.
    private static func prefixLength(of reply: DHCPMessage) -> UInt8 {
        if let told = reply.options.subnetMask?.maskLength, told >= 8 { return told }
        switch reply.yourAddress.rawValue >> 29 {
        case 0..<4: return 8
        case 4..<6: return 16
        case _: return 24
        }
    }

    /// Shortens T1 and T2 by up to 5 %, so that machines that started together do not renew together (RFC 2131 §4.4.5).
    mutating func spreadRenewal(using random: inout SeededRandom) {
        let share = 1 - Double.random(in: 0...0.05, using: &random)
        renewal = renewal.map { .nanoseconds(($0 * share).wholeNanoseconds) }
        rebinding = rebinding.map { .nanoseconds(($0 * share).wholeNanoseconds) }
    }
}

/// The times of a lease in the order T1 < T2 < end, whatever the server sent. All are nil if the lease never expires.
private struct LeaseTimes {
    let duration: Duration?
    let renewal: Duration?
    let rebinding: Duration?

    init(_ options: DHCPOptions, seconds: UInt32) {
        guard seconds != RFC2131.forEver else {
            (duration, renewal, rebinding) = (nil, nil, nil)
            return
        }
        typealias Limits = DHCPLeaseLimits
        let end = min(max(.seconds(seconds), Limits.leastDuration), Limits.longestDuration)
        let told = options.rebindingTime.map { Duration.seconds($0) }
        let second = told.flatMap { Limits.leastRenewal < $0 && $0 < end ? $0 : nil }
        let last = second ?? end * RFC2131.rebindingShare
        let first = options.renewalTime.map { Duration.seconds($0) }
            .flatMap { Limits.leastRenewal <= $0 && $0 < last ? $0 : nil }
        let usual = second == nil ? end * RFC2131.renewalShare : last * (RFC2131.renewalShare / RFC2131.rebindingShare)
        (duration, renewal, rebinding) = (end, first ?? usual, last)
    }
}

/// The network of a lease's address.
private struct LeasedNetwork {
    let address: IPv4Address
    let prefixLength: UInt8

    /// True unless the address is the first or last one of its network. Networks of one or two addresses have no such
    /// restriction (RFC 3021).
    var hasRoomForItsAddress: Bool {
        prefixLength > 30
            || address != address.network(prefixLength: prefixLength)
                && address != address.broadcast(prefixLength: prefixLength)
    }

    func broadcast(told: IPv4Address?) -> IPv4Address {
        guard prefixLength <= 30 else { return .broadcast }
        let last = address.broadcast(prefixLength: prefixLength)
        let first = address.network(prefixLength: prefixLength)
        // Some old networks use their first address for broadcasts.
        return told == first ? first : last
    }

    /// Returns routers and routes. Option 121 replaces option 3 (RFC 3442).
    func ways(_ options: DHCPOptions) -> (routers: [IPv4Address], routes: [ClasslessRoute]) {
        let told = (options.staticRoutes ?? []).prefix(DHCPLeaseLimits.routes).filter(\.isRoutable)
        let direct = told.filter { $0.router == .any }
        let routers =
            options.staticRoutes == nil
            ? options.routers ?? [] : told.filter { $0.prefixLength == 0 && $0.router != .any }.map(\.router)
        let indirect = told.filter {
            $0.router != .any && $0.prefixLength > 0 && canReach($0.router, through: direct)
        }
        let usable = routers.filter { prefixLength == 32 || canReach($0, through: direct) }
            .filter { $0.isHost && $0 != address }
        return (Array(usable.prefix(DHCPLeaseLimits.routers)), direct + indirect)
    }

    private func canReach(_ router: IPv4Address, through direct: [ClasslessRoute]) -> Bool {
        router.isHost && router != address
            && (address.shares(prefixLength: prefixLength, with: router)
                || direct.contains { $0.destination.shares(prefixLength: $0.prefixLength, with: router) })
    }
}

extension ClasslessRoute {
    /// True if the destination is the default route or a valid host network.
    fileprivate var isRoutable: Bool { prefixLength == 0 || destination.isHost }
}

extension IPv4Address {
    /// True for a host address: not in 0/8, loopback (127/8), multicast, reserved or broadcast (224/3).
    fileprivate var isHost: Bool { rawValue >> 24 != 0 && rawValue >> 24 != 127 && rawValue >> 29 != 7 }
}

extension NetworkServers {
    fileprivate init(_ options: DHCPOptions) {
        func hosts(_ list: [IPv4Address]?) -> [IPv4Address] {
            Array((list ?? []).filter(\.isHost).prefix(DHCPLeaseLimits.servers))
        }
        self.init(
            nameServers: hosts(options.domainNameServers), timeServers: hosts(options.ntpServers),
            domain: options.domainName, searchDomains: options.searchDomains ?? [])
    }
}
