import ProtocolCore

/// The sender of a password attempt.
struct LoginThrottleKey: Hashable, Sendable {
    /// The network whose addresses may all belong to one attacker (``NIOCore/SocketAddress/networkOfGuest``). Users in
    /// one home share it.
    var network: String
    /// The address of the sender.
    var address: String
    /// The name of the device (``DeviceCookie``); nil unless the device has logged in with a password that is still
    /// valid.
    var device: String?
    /// True if that password is an owner's.
    var isOwnersDevice = false
}

/// Limits password attempts. After a failure, the sender's network, known address or known device waits before the next
/// attempt, twice as long each time. Too many failures of a group of unknown senders make the whole group wait. No wait
/// is longer than ``longestWait``.
///
/// Three groups wait separately, so that no group uses the attempts of another:
/// - Known senders, whose device or address has logged in with a password that is still valid, wait only for their own
///   failures.
/// - Unknown senders in networks with fewer than ``failuresOfNewNetwork`` failures share one wait. A new browser of an
///   owner belongs to this group.
/// - Unknown senders in all other networks share another wait.
///
/// An attacker with an unlimited number of networks competes with a new browser for each attempt. This cannot be
/// avoided, because the guard cannot distinguish the two.
struct PasswordGuard {
    /// The wait after the first failure, and the longest wait.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// Failures are forgotten when no further failure occurs for this time.
    static let memory = Duration.seconds(600)
    /// The number of failures of a group of unknown senders before the group waits, because users mistype.
    static let freeFailures = 5
    /// The number of failures after which a network counts as guessing.
    static let failuresOfNewNetwork = 3
    /// The maximum number of remembered networks, addresses and devices. Beyond it, the entry with the oldest failure
    /// is removed, and only the wait of its group applies to that sender.
    static let mostAddresses = 256
    /// The maximum number of remembered addresses per password, so that the user of one password cannot evict the
    /// addresses of another password.
    static let addressesOfPassword = mostAddresses / PasswordFile.most

    /// The priority of a sender. It determines how many attempts may be in progress when the sender's attempt is
    /// accepted.
    enum Standing: Hashable {
        case stranger, known, owner
    }

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
            // 2^5 seconds exceed the longest wait.
            until = now + min(PasswordGuard.firstWait * (1 << min(doublings, 5)), PasswordGuard.longestWait)
        }
    }

    private enum Name: Hashable {
        case network(String)
        case address(String)
        case device(String)
    }

    private struct KnownAddress {
        /// The id of the right password.
        var password: String
        var isOwners: Bool
        var at: Instant
    }

    private var failures: [Name: Failures] = [:]
    private var newNetworks = Failures()
    private var guessingNetworks = Failures()
    private var known: [String: KnownAddress] = [:]

    init() {}

    /// Returns the priority of a sender. A sender is known (or an owner) if its device or its address has logged in
    /// with a password that is still valid.
    func standing(of guesser: LoginThrottleKey) -> Standing {
        if guesser.device != nil { return guesser.isOwnersDevice ? .owner : .known }
        return known[guesser.address].map { $0.isOwners ? .owner : .known } ?? .stranger
    }

    /// Forgets the addresses of removed passwords.
    mutating func keep(ofPasswords ids: Set<String>) {
        known = known.filter { ids.contains($0.value.password) }
    }

    /// Returns nil if the sender may try now, else the remaining wait. The attempt counts as a failure until
    /// `succeeded(by:password:isOwners:now:)`, so parallel attempts do not evade the limit.
    mutating func attempt(by guesser: LoginThrottleKey, now: Instant) -> Duration? {
        let name = name(of: guesser)
        let isStranger = standing(of: guesser) == .stranger
        let isNew = isNew(name, now: now)
        let others = isNew ? newNetworks.until : guessingNetworks.until
        let until = max(failures[name]?.until ?? .zero, isStranger ? others : .zero)
        guard until <= now else { return until - now }
        failures[name, default: Failures()].add(free: 0, now: now)
        if isStranger, isNew { newNetworks.add(free: Self.freeFailures, now: now) }
        if isStranger, !isNew { guessingNetworks.add(free: Self.freeFailures, now: now) }
        if failures.count > Self.mostAddresses, let oldest = failures.min(by: { $0.value.last < $1.value.last }) {
            failures[oldest.key] = nil
        }
        return nil
    }

    /// Records that the password of an attempt was right.
    ///
    /// - Parameters:
    ///   - password: the id of the right, valid password.
    ///   - isOwners: true if it is an owner's.
    mutating func succeeded(by guesser: LoginThrottleKey, password: String, isOwners: Bool, now: Instant) {
        let name = name(of: guesser)
        // The successful attempt no longer counts as a failure; the failures of others remain.
        if standing(of: guesser) == .stranger {
            if (failures[name]?.count ?? 0) <= Self.failuresOfNewNetwork {
                newNetworks.count = max(0, newNetworks.count - 1)
            } else {
                guessingNetworks.count = max(0, guessingNetworks.count - 1)
            }
        }
        failures[name] = nil
        // An address of an owner keeps its priority.
        if known[guesser.address]?.isOwners == true, !isOwners { return }
        known[guesser.address] = KnownAddress(password: password, isOwners: isOwners, at: now)
        let same = known.filter { $0.value.password == password }
        if same.count > Self.addressesOfPassword, let oldest = same.min(by: { $0.value.at < $1.value.at }) {
            known[oldest.key] = nil
        }
    }

    private func isNew(_ name: Name, now: Instant) -> Bool {
        guard let known = failures[name], now - known.last <= Self.memory else { return true }
        return known.count < Self.failuresOfNewNetwork
    }

    private func name(of guesser: LoginThrottleKey) -> Name {
        if let device = guesser.device { return .device(device) }
        return known[guesser.address] == nil ? .network(guesser.network) : .address(guesser.address)
    }
}
