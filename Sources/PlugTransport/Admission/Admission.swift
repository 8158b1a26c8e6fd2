import PlugModel
import ProtocolCore

/// Admission control for new connections of a plug: decides which connections get a handshake, and limits the time of
/// strangers, which are peers that are not known as paired controllers. Strangers cannot use up the connections that
/// paired controllers need.
///
/// Connections of paired controllers are not counted here; the plug's sessions have their own limit.
struct Admission: Machine, Sendable {
    enum Event: MachineEvent, Hashable, Sendable {
        /// A peer connected from this IP address. `isLocal` is false if the peer is in another network.
        case accepted(ConnectionID, from: String, isLocal: Bool)
        case handshakeFinished(ConnectionID)
        /// The connection belongs to the paired controller with this key. Nil if the listener does not know keys.
        case paired(ConnectionID, by: PublicKey? = nil)
        case closed(ConnectionID)
        case deadlineReached
    }

    enum Action: Hashable, Sendable {
        case admit(ConnectionID)
        /// Close the connection before anything is read from it.
        case refuse(ConnectionID)
        /// Close the connection, because its time limit is over.
        case close(ConnectionID)
        /// Store these addresses of paired controllers for the next process, the most recent one last.
        case keep([String])
    }

    private struct PendingConnection: Hashable, Sendable {
        var address: String
        var isInHandshake = true
        var leaves: Instant
        /// The shared allowance towards which the connection counts. Nil if it counts only towards the allowance of its
        /// address, because a paired controller has used this address.
        var origin: Origin?
    }

    /// The origin of a stranger.
    private enum Origin { case local, distant }

    private let limits: AdmissionLimits
    /// The admitted connections that are not known as paired, limited by the sum of the allowances.
    private var guests: [ConnectionID: PendingConnection] = [:]
    private var strangers: [Origin: AllowanceUsage]
    /// The used allowance per address. An entry exists while its address has an unpaired connection, its token bucket
    /// is not full, or the address is in `paired`. All three have limits, so the table has a maximum size.
    private var addresses: [String: AllowanceUsage] = [:]
    /// The addresses of paired controllers, the most recent one last. Addresses that an earlier process stored have no
    /// key.
    private var paired: [(address: String, key: PublicKey?)] = []

    /// Creates the admission control of a listener.
    ///
    /// - Parameter paired: the addresses that an earlier process stored.
    init(_ limits: AdmissionLimits = AdmissionLimits(), paired: [String] = []) {
        self.limits = limits
        strangers = [.local: AllowanceUsage(limits.strangers), .distant: AllowanceUsage(limits.distantStrangers)]
        for address in paired { _ = remember(address, of: nil) }
    }

    var nextDeadline: Instant? { guests.values.lazy.map(\.leaves).min() }

    /// The size of the address table, for tests of its limit.
    var knownAddresses: Int { addresses.count }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .accepted(let id, let address, let isLocal):
            return [accept(id, from: address, isLocal ? .local : .distant, now: now)]
        case .handshakeFinished(let id): finishHandshake(id, now: now)
        case .paired(let id, let key): return pair(id, by: key, now: now)
        case .closed(let id): leave(id, now: now)
        case .deadlineReached: return closeOverdue(now: now)
        }
        return []
    }

    private mutating func accept(
        _ id: ConnectionID, from address: String, _ origin: Origin, now: Instant
    ) -> Action {
        let origin = isPaired(address) ? nil : origin
        var share =
            addresses[address] ?? AllowanceUsage(origin == .distant ? limits.distantStranger : limits.stranger)
        let hasRoom = origin.flatMap { strangers[$0]?.hasRoom(at: now) } ?? true
        guard share.hasRoom(at: now), hasRoom else { return .refuse(id) }
        share.begin(now: now)
        if let origin { strangers[origin]?.begin(now: now) }
        addresses[address] = share
        guests[id] = PendingConnection(address: address, leaves: now + limits.handshakeTime, origin: origin)
        forgetUntouched(now: now)
        return .admit(id)
    }

    private mutating func finishHandshake(_ id: ConnectionID, now: Instant) {
        guard var guest = guests[id], guest.isInHandshake else { return }
        guest.isInHandshake = false
        guest.leaves = now + limits.pairingTime
        guests[id] = guest
        addresses[guest.address]?.finishHandshake()
        if let origin = guest.origin { strangers[origin]?.finishHandshake() }
    }

    private mutating func pair(_ id: ConnectionID, by key: PublicKey?, now: Instant) -> [Action] {
        guard let address = guests[id]?.address else { return [] }
        leave(id, now: now)
        return remember(address, of: key) ? [.keep(paired.map(\.address))] : []
    }

    private func isPaired(_ address: String) -> Bool { paired.contains { $0.address == address } }

    /// Moves or adds an address to the end of the list. Returns false if the address was already known.
    private mutating func remember(_ address: String, of key: PublicKey?) -> Bool {
        let known = paired.firstIndex { $0.address == address }.map { paired.remove(at: $0) }
        // Limits the addresses per controller, so that a controller with changing addresses cannot evict those of
        // others.
        if known == nil, let key, paired.count(where: { $0.key == key }) >= limits.addressesOfController,
            let oldest = paired.firstIndex(where: { $0.key == key })
        {
            forget(oldest)
        }
        paired.append((address, key ?? known?.key))
        guard known == nil else { return false }
        addresses[address, default: AllowanceUsage(limits.stranger)].allowance = limits.pairedAddress
        if paired.count > limits.pairedAddresses { forget(0) }
        return true
    }

    private mutating func forget(_ index: Int) {
        addresses[paired.remove(at: index).address]?.allowance = limits.stranger
    }

    private mutating func leave(_ id: ConnectionID, now: Instant) {
        guard let guest = guests.removeValue(forKey: id) else { return }
        addresses[guest.address]?.end(inHandshake: guest.isInHandshake)
        if let origin = guest.origin { strangers[origin]?.end(inHandshake: guest.isInHandshake) }
        forgetUntouched(now: now)
    }

    /// Returns the connections to close. They stay counted until the shell reports that they are closed.
    private mutating func closeOverdue(now: Instant) -> [Action] {
        let overdue = guests.filter { $0.value.leaves <= now }.keys.sorted { $0.rawValue < $1.rawValue }
        for id in overdue { guests[id]?.leaves = .init(nanoseconds: .max) }
        return overdue.map { .close($0) }
    }

    private mutating func forgetUntouched(now: Instant) {
        let kept = Set(paired.map(\.address))
        addresses = addresses.filter { !$0.value.isUntouched(at: now) || kept.contains($0.key) }
    }
}
