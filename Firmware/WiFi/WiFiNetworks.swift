public import AddressConfiguration
public import PlugModel
import ProtocolCore

/// The networks that the plug joins, and the country of its radio.
public struct WiFiNetworks: Hashable, Sendable {
    /// The networks in the order of their priority, at most ``limit``, each name once.
    public private(set) var list: [WiFiNetwork] = []
    /// The country; nil if it is not known.
    public var country: WiFiCountry?
    /// The plug's addresses that owners chose, by network. In other networks, a DHCP server chooses.
    public private(set) var addresses: [WiFiName: FixedAddress] = [:]

    /// The limit of ``list``. Owners add networks, and flash has to keep them.
    public static let limit = PlugWire.wiFiNetworkLimit

    /// Creates an empty list.
    public init(country: WiFiCountry? = nil) { self.country = country }

    /// Adds a network with the highest priority, or replaces the one with its name. The last one gives way if there are too
    /// many.
    ///
    /// - Parameter address: the plug's address in the network; nil for one from a DHCP server.
    public mutating func add(_ network: WiFiNetwork, address: FixedAddress? = nil) {
        list.removeAll { $0.name == network.name }
        list = Array(([network] + list).prefix(Self.limit))
        addresses[network.name] = address
        addresses = addresses.filter { name, _ in list.contains { $0.name == name } }
    }

    /// Removes a network. Returns false if it is not in the list.
    public mutating func remove(_ name: WiFiName) -> Bool {
        guard let index = list.firstIndex(where: { $0.name == name }) else { return false }
        list.remove(at: index)
        addresses[name] = nil
        return true
    }

    /// Reads ``line``. Returns nil if the line is not valid.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard let country = words.first, words.count <= Self.limit + 1 else { return nil }
        if country != Self.none {
            guard let known = WiFiCountry(rawValue: String(country)) else { return nil }
            self.country = known
        }
        for word in words.dropFirst() {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count),
                let name = HexadecimalText.bytes(of: parts[0].utf8).flatMap({ WiFiName(bytes: $0) }),
                let secret = HexadecimalText.bytes(of: parts[1].utf8), !list.contains(where: { $0.name == name })
            else { return nil }
            let password = secret.isEmpty ? nil : WiFiPassword(String(decoding: secret, as: UTF8.self))
            guard secret.isEmpty || password != nil else { return nil }
            list.append(WiFiNetwork(name, password: password))
            guard parts.count == 3 else { continue }
            guard let address = FixedAddress(line: String(parts[2])) else { return nil }
            addresses[name] = address
        }
    }

    /// The country or `--`, then NAME:PASSWORD per network in hexadecimal digits, separated by spaces. ``FixedAddress/line``
    /// follows after a further colon if the plug has a fixed address in the network.
    public var line: String {
        let words = list.map { network in
            let secret = Array((network.password?.secret ?? "").utf8)
            let texts = [HexadecimalText.text(of: network.name.bytes), HexadecimalText.text(of: secret)]
            return (texts + [addresses[network.name]?.line].compactMap(\.self)).joined(separator: ":")
        }
        return ([country?.rawValue ?? Self.none] + words).joined(separator: " ")
    }

    private static let none = "--"
}
