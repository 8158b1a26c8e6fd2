public import DNSWire
public import ProtocolCore

/// Selects the next link-local address to claim, and the time (RFC 3927 §2.1, §2.2.1).
///
/// The hardware address determines the addresses and their order, so a plug regains its old address even without stored
/// data. The count of conflicts is kept when a claim ends or the link is lost. If a neighbour objects to every address,
/// or uses each one right after the plug claimed it, the plug therefore tries only one address per minute.
public struct LinkLocalSelection: Hashable, Sendable {
    /// The next step.
    public enum Choice: Hashable, Sendable {
        /// This address is to be claimed now.
        case claim(IPv4Address)
        /// There were too many conflicts; the next claim must wait.
        case wait(until: Instant)
    }

    /// The number of recent conflicts. The next conflict after an address was held for RATE_LIMIT_INTERVAL (60 s)
    /// restarts the count at 1.
    public private(set) var conflicts = 0
    /// The preferred address. It is kept until a conflict, and claimed first after a lost link.
    public private(set) var candidate: IPv4Address?
    private var random: SeededRandom
    /// The latest addresses with a different owner, which are not selected again. The limit bounds the memory if a
    /// neighbour objects to every address for weeks. It excludes at most 16 of 65,024 addresses.
    private var failed: [IPv4Address] = []
    private static let failedLimit = 16
    private var lastDrawn: Instant?

    /// - Parameter remembered: the last held address; it is ignored if it is not in the valid range.
    public init(hardware: MACAddress, remembered: IPv4Address?) {
        random = SeededRandom(seed: hardware.rawValue)
        candidate = remembered.flatMap { Self.range.contains($0.rawValue) ? $0 : nil }
    }

    private static let range = RFC3927.first.rawValue...RFC3927.last.rawValue

    /// Returns the address to claim now, or the time to wait for.
    public mutating func choose(now: Instant) -> Choice {
        if let candidate { return .claim(candidate) }
        if isLimited, let lastDrawn {
            // A claim waits up to PROBE_WAIT before its first probe. With this extra time, the probes for two addresses
            // always keep the interval.
            let earliest = lastDrawn + RFC3927.rateLimitInterval + RFC3927.probeWait
            guard now >= earliest else { return .wait(until: earliest) }
        }
        let address = draw()
        candidate = address
        lastDrawn = now
        return .claim(address)
    }

    /// True if at most one new address may be tried per RATE_LIMIT_INTERVAL.
    public var isLimited: Bool { conflicts >= RFC3927.maximumConflicts }

    /// Notes that the candidate has a different owner.
    ///
    /// - Parameter usableSince: the time at which the address became ours, or nil. An address that was kept for
    ///   RATE_LIMIT_INTERVAL resets the count, because such changes are already slower than the limit. A successful
    ///   claim does not reset the count. Otherwise a neighbour that uses each address right after the plug claimed it
    ///   would never trigger the limit.
    public mutating func conflict(usableSince: Instant?, now: Instant) {
        if let usableSince, now - usableSince >= RFC3927.rateLimitInterval { conflicts = 0 }
        conflicts += 1
        guard let candidate else { return }
        failed.append(candidate)
        if failed.count > Self.failedLimit { failed.removeFirst() }
        self.candidate = nil
    }

    private mutating func draw() -> IPv4Address {
        // The first draw almost always succeeds. The loop ends because few addresses have failed.
        while true {
            let address = IPv4Address(rawValue: .random(in: Self.range, using: &random))
            if !failed.contains(address) { return address }
        }
    }
}
