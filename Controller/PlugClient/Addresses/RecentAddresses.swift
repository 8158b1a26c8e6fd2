import LinuxSystem
import PlugModel
import ServiceDiscovery

/// The address at which a plug was last reached.
struct RecentAddress: Hashable, Sendable {
    /// The time after which an unchanged address is stored again.
    private static let refresh = Duration.seconds(3600)

    var address: PlugAddress
    var time: WallTime

    /// True if this address replaces the stored one.
    func replaces(_ stored: RecentAddress?) -> Bool {
        guard let stored, stored.address == address else { return true }
        // A clock that was set back makes the stored time wrong.
        return time < stored.time || time >= stored.time + Self.refresh
    }
}

/// The addresses at which the paired plugs were last reached, in a file next to the list. They save a search. A wrong
/// address costs only time, because the plug must prove its pinned key, so the file is neither locked nor repaired.
extension PairedPlugs {
    private static let recentLineLength = 12 + PlugAddress.longestHost + 32

    private var recentPath: String { directory + "/recent-addresses" }

    /// Reads the addresses. Lines that are not valid are ignored.
    func recentAddresses() -> [PlugID: RecentAddress] {
        let bytes = try? files.readSecretIfPresent(recentPath, limit: Self.limit * Self.recentLineLength)
        let lines = String(decoding: (bytes ?? nil) ?? [], as: UTF8.self).split(separator: "\n")
        return lines.reduce(into: [:]) { recent, line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, let id = PlugID(rawValue: words[0]), let time = WallTime(secondsText: words[1]),
                let address = try? PlugAddress(words[2])
            else { return }
            recent[id] = RecentAddress(address: address, time: time)
        }
    }

    /// Stores the address at which a plug was reached, if it is new. The addresses of unpaired plugs are removed.
    func note(_ recent: RecentAddress, of id: PlugID) throws {
        var known = recentAddresses()
        guard recent.replaces(known[id]) else { return }
        known[id] = recent
        let paired = Set(try all().map(\.id))
        let lines = known.filter { paired.contains($0.key) }.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key.rawValue) \($0.value.time.nanosecondsSince1970 / 1_000_000_000) \($0.value.address)\n"
        }
        try files.replaceSecret(recentPath, with: Array(lines.joined().utf8))
    }
}

extension WallTime {
    /// Parses whole seconds since 1970. Returns nil for years after 2200.
    fileprivate init?(secondsText: String) {
        guard let seconds = Int64(secondsText), (0...7_258_118_400).contains(seconds) else { return nil }
        self.init(millisecondsSince1970: seconds * 1000)
    }
}

extension ResolvedService {
    /// The address at which a controller finds the plug next time: the first IPv4 address, or the first IPv6 address
    /// that needs no interface. Nil without such an address.
    var recentAddress: PlugAddress? {
        let usable = addresses.map(\.address).filter { $0.family == .v4 || !$0.isLinkLocal }
        guard let address = usable.first(where: { $0.family == .v4 }) ?? usable.first else { return nil }
        return try? PlugAddress(address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)")
    }
}
