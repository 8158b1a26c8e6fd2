public import DNSWire

/// The address that an owner chose for an interface, with the data that a DHCP server would provide.
public struct FixedAddress: Hashable, Sendable {
    /// The address.
    public let address: IPv4Address
    /// The length of the network part in bits, 8 to 30.
    public let prefixLength: UInt8
    /// The default router, in the network; nil for none.
    public let router: IPv4Address?
    /// The name servers, preferred one first, at most ``nameServerLimit``.
    public let nameServers: [IPv4Address]

    /// The limit of ``nameServers``. The resolvers of most systems use only three.
    public static let nameServerLimit = 3

    /// An error in an owner's input.
    public enum Mistake: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not an address with its number of bits.
        case notAnAddress(String)
        /// The address cannot be that of a host in the network.
        case notAHost(IPv4Address, prefixLength: UInt8)
        /// The router is not another host in the network.
        case notARouter(String)
        case notANameServer(String)
        case tooManyNameServers

        public var description: String {
            switch self {
            case .notAnAddress(let text):
                "\"\(text.prefix(40))\" is not an address with its number of bits, such as 192.168.1.20/24"
            case .notAHost(let address, let length):
                "\(address) is not the address of a host in a network with /\(length)"
            case .notARouter(let text): "the router \"\(text.prefix(40))\" is not another host in the network"
            case .notANameServer(let text):
                "the name server \"\(text.prefix(40))\" is not the address of a host, such as 192.168.1.1"
            case .tooManyNameServers: "there are more than \(FixedAddress.nameServerLimit) name servers"
            }
        }
    }

    /// Checks an owner's input.
    ///
    /// - Parameters:
    ///   - text: The address and its number of bits, such as "192.168.1.20/24".
    ///   - router: The address of the default router; an empty text for none.
    ///   - nameServers: The addresses of name servers.
    public init(_ text: String, router: String, nameServers: [String]) throws(Mistake) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPv4Address(text: parts[0]), let length = UInt8(parts[1]),
            (8...30).contains(length)
        else { throw .notAnAddress(text) }
        guard address.isHost(prefixLength: length) else { throw .notAHost(address, prefixLength: length) }
        self.address = address
        prefixLength = length
        if router.isEmpty {
            self.router = nil
        } else {
            guard let known = IPv4Address(text: router[...]), known.isHost(prefixLength: length), known != address,
                known.shares(prefixLength: length, with: address)
            else { throw .notARouter(router) }
            self.router = known
        }
        guard nameServers.count <= Self.nameServerLimit else { throw .tooManyNameServers }
        var servers: [IPv4Address] = []
        for text in nameServers {
            guard let server = IPv4Address(text: text[...]), server.isHost(prefixLength: 0) else {
                throw .notANameServer(text)
            }
            servers.append(server)
        }
        self.nameServers = servers
    }

    /// Reads ``line``. Returns nil if it is not valid.
    public init?(line: String) {
        let parts = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 2, !parts[1].isEmpty else { return nil }
        let router = parts[1] == Self.none ? "" : parts[1]
        guard let address = try? FixedAddress(parts[0], router: router, nameServers: Array(parts.dropFirst(2))) else {
            return nil
        }
        self = address
    }

    /// The address with its number of bits, the router or "-", and the name servers, separated by commas.
    public var line: String {
        (["\(address)/\(prefixLength)", router.map { "\($0)" } ?? Self.none] + nameServers.map { "\($0)" })
            .joined(separator: ",")
    }

    private static let none = "-"
}

extension IPv4Address {
    /// Parses four numbers with dots between them. Returns nil for other text.
    public init?(text: Substring) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = numbers.compactMap { number in number.allSatisfy(\.isASCIIDigit) ? UInt8(number) : nil }
        guard numbers.count == 4, bytes.count == 4 else { return nil }
        self.init(bytes[0], bytes[1], bytes[2], bytes[3])
    }

    /// True for the address of a single host that routers forward, and that is neither the first nor the last one of its
    /// network. With a prefix of 0 bits, no network is considered.
    fileprivate func isHost(prefixLength: UInt8) -> Bool {
        let first = rawValue >> 24
        guard first != 0, first != 127, first < 224, !isLinkLocal else { return false }
        return prefixLength == 0
            || (self != network(prefixLength: prefixLength) && self != broadcast(prefixLength: prefixLength))
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
