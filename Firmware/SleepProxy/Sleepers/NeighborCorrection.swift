import DNSWire
import ProtocolCore

/// The announcements of the card of a host that returned. The neighbours' caches still point to the proxy, and many
/// hosts do not announce their addresses after they wake up.
struct NeighborCorrection: Hashable, Sendable {
    /// The host's card.
    let card: MACAddress
    /// The addresses that the host has not announced itself.
    private(set) var addresses: [IPAddress]
    private var sent = 0
    /// The time of the next announcement, or nil if none is needed.
    private(set) var next: Instant?

    init(card: MACAddress, addresses: [IPAddress], limits: SleepProxyLimits, now: Instant) {
        self.card = card
        self.addresses = addresses
        next = limits.corrections.first.map { now + $0 }
    }

    /// The host announced this address itself.
    mutating func announced(_ address: IPAddress) {
        addresses.removeAll { $0 == address }
        if addresses.isEmpty { next = nil }
    }

    /// Returns the addresses to announce if an announcement is due.
    mutating func step(limits: SleepProxyLimits, now: Instant) -> [IPAddress] {
        guard let due = next, now >= due else { return [] }
        sent += 1
        next = sent < limits.corrections.count ? now + limits.corrections[sent] : nil
        return addresses
    }
}
