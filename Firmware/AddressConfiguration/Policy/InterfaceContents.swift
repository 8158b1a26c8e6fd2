import DNSWire
import LinkWire
import ProtocolCore

/// What the interface has, as far as its shell was asked for it and did not complain.
struct InterfaceContents: Hashable, Sendable {
    private struct Present: Hashable {
        /// Nil for one that an earlier process assigned, which the kernel knows better.
        var details: AssignedAddress?
        /// Then the kernel takes it away by itself.
        var validUntil: Instant?
    }

    /// The kernel refused an address, or somebody took it away from it.
    private struct Refusal: Hashable {
        var count: Int
        var retry: Instant
        var lastAssigned: Instant?
    }

    /// One that was there for so long went for a new reason.
    private static let soundAfter = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(64)

    /// At most a link-local address, one of a lease, and what was inherited.
    private var addresses: [IPv4Address: Present] = [:]
    /// Of wanted addresses alone, and so at most two.
    private var refusals: [IPv4Address: Refusal] = [:]
    /// Nil while it is not known, because an earlier process decided it; so for what is handed on.
    private var routes: [Route]?
    private(set) var kernelAnswersARP: Bool?
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

    /// True while the kernel does not have it and will be asked again.
    func isRefused(_ address: IPv4Address) -> Bool { refusals[address] != nil && addresses[address] == nil }

    mutating func letKernelAnswer(_ answers: Bool) -> [AddressingAction] {
        guard kernelAnswersARP != answers else { return [] }
        kernelAnswersARP = answers
        return [.kernelAnswersARP(answers)]
    }

    /// - Parameter validUntil: of the global one.
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
            // The kernel refuses a lifetime of nothing.
            address.validFor = end.map { max($0 - now, .seconds(1)) }
            actions.append(.assign(address))
        }
        return actions
    }

    mutating func assigned(_ address: IPv4Address, now: Instant) { refusals[address]?.lastAssigned = now }

    /// Tried again after 1 s, 2 s, 4 s and so on: whoever takes the address away each time is not fought.
    /// - Returns: false if it is not there anyway.
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
            nextDeadline = sooner(nextDeadline, memories.nextAvailable)
            return []
        }
        remembered = memory
        return [.remember(memory)]
    }
}
