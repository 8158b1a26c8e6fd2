import DNSWire
import ProtocolCore

/// The assumed state of the interface. A requested action counts as performed until the shell reports its failure.
struct InterfaceContents: Hashable, Sendable {
    private struct Present: Hashable {
        /// The properties; nil for an address that a previous process assigned.
        var details: AssignedAddress?
        /// The time at which the kernel removes the address.
        var validUntil: Instant?
    }

    /// An address that the kernel rejected or that another program removed.
    private struct Refusal: Hashable {
        var count: Int
        var retry: Instant
        var lastAssigned: Instant?
    }

    /// If an assigned address remains for this time, the next retry after a removal waits only 1 s again.
    private static let soundAfter = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(64)

    /// The addresses: at most a link-local one, one of a lease, and inherited ones.
    private var addresses: [IPv4Address: Present] = [:]
    /// The rejections. Only wanted addresses have one, so at most two.
    private var refusals: [IPv4Address: Refusal] = [:]
    /// The routes; nil while they are unknown, because a previous process may have set them.
    private var routes: [Route]?
    private(set) var kernelAnswersARP: Bool?
    /// The published servers; the outer nil means unknown, because a previous process may have published some.
    private var servers: NetworkServers??
    private var remembered: RememberedAddresses
    private var memories = InterfaceAddressing.memories
    private(set) var nextDeadline: Instant?

    init(inherited: Set<IPv4Address>, remembered: RememberedAddresses) {
        for address in inherited { addresses[address] = Present() }
        self.remembered = remembered
    }

    var present: Set<IPv4Address> { Set(addresses.keys) }

    func expires(_ address: IPv4Address) -> Instant? { addresses[address]?.validUntil }

    /// Returns true while the kernel does not have the address and a retry is scheduled.
    func isRefused(_ address: IPv4Address) -> Bool { refusals[address] != nil && addresses[address] == nil }

    mutating func letKernelAnswer(_ answers: Bool) -> [AddressingAction] {
        guard kernelAnswersARP != answers else { return [] }
        kernelAnswersARP = answers
        return [.kernelAnswersARP(answers)]
    }

    /// - Parameter validUntil: the end of the lease, which applies to addresses of global scope.
    mutating func assign(_ wanted: [AssignedAddress], validUntil: Instant?, now: Instant) -> [AddressingAction] {
        nextDeadline = nil
        refusals = refusals.filter { address, _ in wanted.contains { $0.address == address } }
        var actions: [AddressingAction] = []
        for var address in wanted {
            let end = address.scope == .global ? validUntil : nil
            let present = Present(details: address, validUntil: end)
            guard addresses[address.address] != present else { continue }
            if let refusal = refusals[address.address], refusal.retry > now {
                nextDeadline = sooner(nextDeadline, refusal.retry)
                continue
            }
            addresses[address.address] = present
            // The kernel rejects a lifetime of zero.
            address.validFor = end.map { max($0 - now, .seconds(1)) }
            actions.append(.assign(address))
        }
        return actions
    }

    mutating func assigned(_ address: IPv4Address, now: Instant) { refusals[address]?.lastAssigned = now }

    /// Schedules a retry after 1 s, 2 s, 4 s and so on, so that the plug does not compete with a program that removes
    /// the address repeatedly.
    ///
    /// - Returns: false if the address was not present.
    mutating func failed(_ address: IPv4Address, now: Instant) -> Bool {
        guard addresses.removeValue(forKey: address) != nil else { return false }
        var refusal = refusals[address] ?? Refusal(count: 0, retry: now)
        if let last = refusal.lastAssigned, now - last >= Self.soundAfter { refusal.count = 0 }
        refusal.retry = now + min(.seconds(1 << min(refusal.count, 6)), Self.longestRetry)
        refusal.count += 1
        refusal.lastAssigned = nil
        refusals[address] = refusal
        return true
    }

    mutating func route(_ wanted: [Route]) -> [AddressingAction] {
        guard routes != wanted else { return [] }
        routes = wanted
        return [.setRoutes(wanted)]
    }

    mutating func remove(except kept: Set<IPv4Address>) -> [AddressingAction] {
        let gone = present.subtracting(kept).sorted { $0.rawValue < $1.rawValue }
        for address in gone { addresses[address] = nil }
        return gone.map { .remove($0) }
    }

    mutating func handOn(_ wanted: NetworkServers?) -> [AddressingAction] {
        guard servers != .some(wanted) else { return [] }
        servers = .some(wanted)
        return [.handOn(wanted)]
    }

    mutating func remember(_ memory: RememberedAddresses, now: Instant) -> [AddressingAction] {
        guard remembered != memory else { return [] }
        guard memories.take(now: now) else {
            nextDeadline = sooner(nextDeadline, memories.available())
            return []
        }
        remembered = memory
        return [.remember(memory)]
    }
}
