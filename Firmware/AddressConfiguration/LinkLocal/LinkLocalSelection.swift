public import DNSWire
public import LinkWire
public import ProtocolCore

/// Which link-local address to try, and when (RFC 3927 §2.1, §2.2.1).
///
/// The same card draws the same addresses in the same order, so that it gets its old one where nothing is remembered. Its count
/// of conflicts outlives the claims: a neighbour that denies everything, or takes every address right after it was claimed,
/// is met by one try a minute whatever happens in between, a lost link included.
public struct LinkLocalSelection: Hashable, Sendable {
    public enum Choice: Hashable, Sendable {
        case claim(IPv4Address)
        /// After so many conflicts not sooner.
        case wait(until: Instant)
    }

    /// Conflicts that count; zero again after an address was held for a while.
    public private(set) var conflicts = 0
    /// Tried until there is a conflict about it: claimed anew after a lost link, it is the first choice.
    public private(set) var candidate: IPv4Address?
    private var random: SeededRandom
    /// The latest ones, which have another owner: as many as conflicts before the limit, then the next minutes' ones.
    /// Bounded so that a neighbour who denies everything for weeks costs no memory; 16 of 65,024 exclude nothing worth having.
    private var failed: [IPv4Address] = []
    private static let failedLimit = 16
    private var lastDrawn: Instant?

    /// - Parameter remembered: the address held last; worth nothing if it is none that may be claimed.
    public init(hardware: MACAddress, remembered: IPv4Address?) {
        random = SeededRandom(seed: hardware.rawValue)
        candidate = remembered.flatMap { Self.range.contains($0.rawValue) ? $0 : nil }
    }

    private static let range = RFC3927.first.rawValue...RFC3927.last.rawValue

    /// The address to claim now.
    public mutating func choose(now: Instant) -> Choice {
        if let candidate { return .claim(candidate) }
        if isLimited, let lastDrawn {
            // A claim waits up to PROBE_WAIT before its first probe. Counted in, the probes for two addresses are never nearer.
            let earliest = lastDrawn + RFC3927.rateLimitInterval + RFC3927.probeWait
            guard now >= earliest else { return .wait(until: earliest) }
        }
        let address = draw()
        candidate = address
        lastDrawn = now
        return .claim(address)
    }

    /// True when at most one new address may be tried in RATE_LIMIT_INTERVAL.
    public var isLimited: Bool { conflicts >= RFC3927.maximumConflicts }

    /// The candidate has another owner.
    /// - Parameter usableSince: when it became ours, if it did. One that was kept for RATE_LIMIT_INTERVAL clears the count: who
    ///   loses an address later than that changes it no faster than the limit allows. Success alone clears nothing, or a
    ///   neighbour that takes each address right after its claim would never meet the limit.
    public mutating func conflict(usableSince: Instant?, now: Instant) {
        if let usableSince, now - usableSince >= RFC3927.rateLimitInterval { conflicts = 0 }
        conflicts += 1
        guard let candidate else { return }
        failed.append(candidate)
        if failed.count > Self.failedLimit { failed.removeFirst() }
        self.candidate = nil
    }

    private mutating func draw() -> IPv4Address {
        // Almost always the first; ends since far fewer addresses have failed than there are.
        while true {
            let address = IPv4Address(rawValue: .random(in: Self.range, using: &random))
            if !failed.contains(address) { return address }
        }
    }
}
