import ProtocolCore

/// Who tries a password.
struct Guesser: Hashable, Sendable {
    /// What one stranger may have all addresses of (``NIOCore/SocketAddress/networkOfGuest``); at home that is the whole house.
    var network: String
    /// The one that he comes from.
    var address: String
    /// Names a device on which somebody was right before (``DeviceCookie``).
    var device: String?
}

/// Who may try a password when. A failure makes its network wait before the next try, twice as long each time, and too many of
/// all strangers together make strangers wait. No wait is longer than ``longestWait``. A device on which somebody was right before, and
/// an address from which somebody was, wait for their own failures alone. But while strangers guess without end, whoever comes on a
/// new device from a new address competes with them for each try: to let that one pass would be to let them pass.
struct PasswordGuard {
    /// The wait after the first failure, and the longest.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// After so long without a failure it is forgotten.
    static let memory = Duration.seconds(600)
    /// Failures of all strangers together that cost nothing: people mistype.
    static let freeFailures = 5
    /// Networks, addresses and devices remembered. Beyond it the oldest is forgotten: then only what holds for all slows it down.
    static let mostAddresses = 256

    private struct Failures {
        var count = 0
        var last = Instant.zero
        var until = Instant.zero

        mutating func add(free: Int, now: Instant) {
            if now - last > PasswordGuard.memory { count = 0 }
            count += 1
            last = now
            let doublings = count - free - 1
            guard doublings >= 0 else { return }
            // 2^5 seconds are more than the longest wait.
            until = now + min(PasswordGuard.firstWait * (1 << min(doublings, 5)), PasswordGuard.longestWait)
        }
    }

    private enum Name: Hashable {
        case network(String)
        case address(String)
        case device(String)
    }

    private var failures: [Name: Failures] = [:]
    private var strangers = Failures()
    /// The addresses from which somebody was right, and when; as many as names with failures.
    private var known: [String: Instant] = [:]

    init() {}

    /// Whether somebody was right before on this device or from this address.
    func knows(_ guesser: Guesser) -> Bool { guesser.device != nil || known[guesser.address] != nil }

    /// Nil where the guesser may try now. That counts as a failure until it is told otherwise: tries at once are no way round.
    mutating func attempt(by guesser: Guesser, now: Instant) -> Duration? {
        let name = name(of: guesser)
        let isKnown = knows(guesser)
        let until = max(failures[name]?.until ?? .zero, isKnown ? .zero : strangers.until)
        guard until <= now else { return until - now }
        failures[name, default: Failures()].add(free: 0, now: now)
        if !isKnown { strangers.add(free: Self.freeFailures, now: now) }
        if failures.count > Self.mostAddresses, let oldest = failures.min(by: { $0.value.last < $1.value.last }) {
            failures[oldest.key] = nil
        }
        return nil
    }

    mutating func succeeded(by guesser: Guesser, now: Instant) {
        failures[name(of: guesser)] = nil
        // The one that was right is no failure; those of others stay.
        if !knows(guesser) { strangers.count = max(0, strangers.count - 1) }
        known[guesser.address] = now
        if known.count > Self.mostAddresses, let oldest = known.min(by: { $0.value < $1.value }) {
            known[oldest.key] = nil
        }
    }

    private func name(of guesser: Guesser) -> Name {
        if let device = guesser.device { return .device(device) }
        return known[guesser.address] == nil ? .network(guesser.network) : .address(guesser.address)
    }
}
