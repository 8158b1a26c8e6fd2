import ProtocolCore

/// Who tries a password.
struct Guesser: Hashable, Sendable {
    /// What one stranger may have all addresses of (``NIOCore/SocketAddress/networkOfGuest``); at home that is the whole house.
    var network: String
    /// The one that he comes from.
    var address: String
    /// Names a device on which a password was right before that is still valid (``DeviceCookie``).
    var device: String?
    /// That password is an owner's.
    var isOwnersDevice = false
}

/// Who may try a password when. A failure makes its network wait before the next try, twice as long each time, and too many of
/// all strangers together make strangers wait. No wait is longer than ``longestWait``.
///
/// Three groups wait apart, so that none of them uses up the tries of the next one:
/// - devices and addresses on which a password was right before that is still valid wait for their own failures only;
/// - networks with few failures wait for each other: a new browser of an owner is one of them;
/// - networks that go on guessing wait for each other.
///
/// A stranger with new networks without end competes with a new browser for each try: to let that one pass would be to let them pass.
struct PasswordGuard {
    /// The wait after the first failure, and the longest.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// After so long without a failure it is forgotten.
    static let memory = Duration.seconds(600)
    /// Failures of all strangers together that cost nothing: people mistype.
    static let freeFailures = 5
    /// Failures after which a network counts among those that go on guessing.
    static let failuresOfNewNetwork = 3
    /// Networks, addresses and devices remembered. Beyond it the oldest is forgotten: then only what holds for all slows it down.
    static let mostAddresses = 256
    /// Addresses remembered on which one password was right, so that the user of a password pushes out no address of another one.
    static let addressesOfPassword = mostAddresses / PasswordFile.most

    /// How much room a guesser has among the tries that wait.
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
            // 2^5 seconds are more than the longest wait.
            until = now + min(PasswordGuard.firstWait * (1 << min(doublings, 5)), PasswordGuard.longestWait)
        }
    }

    private enum Name: Hashable {
        case network(String)
        case address(String)
        case device(String)
    }

    private struct KnownAddress {
        /// The id of the password that was right.
        var password: String
        var isOwners: Bool
        var at: Instant
    }

    private var failures: [Name: Failures] = [:]
    private var newNetworks = Failures()
    private var guessingNetworks = Failures()
    private var known: [String: KnownAddress] = [:]

    init() {}

    /// Whether a password that is still valid was right before on this device or from this address.
    func standing(of guesser: Guesser) -> Standing {
        if guesser.device != nil { return guesser.isOwnersDevice ? .owner : .known }
        return known[guesser.address].map { $0.isOwners ? .owner : .known } ?? .stranger
    }

    /// Forgets the addresses of passwords that are gone.
    mutating func keep(ofPasswords ids: Set<String>) {
        known = known.filter { ids.contains($0.value.password) }
    }

    /// Nil where the guesser may try now. That counts as a failure until it is told otherwise: tries at once are no way round.
    mutating func attempt(by guesser: Guesser, now: Instant) -> Duration? {
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

    /// - Parameters:
    ///   - password: the id of the one that was right, and is valid.
    ///   - isOwners: whether it is an owner's.
    mutating func succeeded(by guesser: Guesser, password: String, isOwners: Bool, now: Instant) {
        let name = name(of: guesser)
        // The one that was right is no failure; those of others stay.
        if standing(of: guesser) == .stranger {
            if (failures[name]?.count ?? 0) <= Self.failuresOfNewNetwork {
                newNetworks.count = max(0, newNetworks.count - 1)
            } else {
                guessingNetworks.count = max(0, guessingNetworks.count - 1)
            }
        }
        failures[name] = nil
        // An address of an owner's password stays one.
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

    private func name(of guesser: Guesser) -> Name {
        if let device = guesser.device { return .device(device) }
        return known[guesser.address] == nil ? .network(guesser.network) : .address(guesser.address)
    }
}
