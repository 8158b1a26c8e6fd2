import ProtocolCore

/// The connections of one socket, and the limits that they count toward. A new connection can replace one that has not
/// completed a request, or one that waits for its next request.
struct ConnectionTable<ID: Hashable> {
    enum Phase: Hashable {
        /// No request has arrived completely.
        case silent
        /// A request was answered, and the next one has not arrived completely.
        case waiting
        /// A request is being answered.
        case busy
    }

    enum Admission: Hashable {
        /// - Parameter closing: the connection that makes room.
        case admitted(closing: ID?)
        case refused
    }

    private struct Entry {
        /// The client's address; nil at the local socket and for loopback connections, which have no limit per address.
        let address: String?
        var phase = Phase.silent
        var since: Instant
        /// The id of the user's password; nil before the login, for owners, and without a password.
        var password: String?
    }

    private let limits: DoorLimits
    private var entries: [ID: Entry] = [:]

    init(_ limits: DoorLimits) { self.limits = limits }

    var count: Int { entries.count }

    mutating func admit(_ id: ID, address: String?, now: Instant) -> Admission {
        var victim: ID?
        if let address, entries.values.count(where: { $0.address == address }) >= limits.connectionsOfAddress {
            victim = oldest(.silent) { $0.address == address } ?? oldest(.waiting) { $0.address == address }
            guard victim != nil else { return .refused }
        } else if entries.count >= limits.connections {
            victim = oldestOfMostSilent ?? oldest(.waiting) { _ in true }
            guard victim != nil else { return .refused }
        }
        if let victim { entries[victim] = nil }
        entries[id] = Entry(address: address, since: now)
        return .admitted(closing: victim)
    }

    mutating func note(_ id: ID, _ phase: Phase, now: Instant) {
        guard let entry = entries[id], entry.phase != phase else { return }
        entries[id]?.phase = phase
        entries[id]?.since = now
    }

    /// Counts the connection toward the limits of the request's user.
    ///
    /// - Returns: false if the connections of the user's password, or those of all users who are not owners, have
    ///   reached their limit.
    mutating func seat(_ id: ID, _ holder: SeatHolder) -> Bool {
        guard entries[id] != nil else { return true }
        guard case .other(let password) = holder else {
            entries[id]?.password = nil
            return true
        }
        guard entries[id]?.password != password else { return true }
        let others = entries.filter { $0.key != id && $0.value.password != nil }
        guard others.count < limits.connectionsOfOthers,
            others.values.count(where: { $0.password == password }) < limits.connectionsOfPassword
        else { return false }
        entries[id]?.password = password
        return true
    }

    mutating func remove(_ id: ID) { entries[id] = nil }

    /// The oldest silent connection of the address with the most silent connections: a client that opens many loses
    /// them first.
    private var oldestOfMostSilent: ID? {
        let silent = entries.filter { $0.value.phase == .silent }
        let counts = silent.values.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
        return silent.min { one, other in
            let (first, second) = (counts[one.value.address, default: 0], counts[other.value.address, default: 0])
            return first == second ? one.value.since < other.value.since : first > second
        }?.key
    }

    private func oldest(_ phase: Phase, _ matches: (Entry) -> Bool) -> ID? {
        entries.filter { $0.value.phase == phase && matches($0.value) }.min { $0.value.since < $1.value.since }?.key
    }
}
