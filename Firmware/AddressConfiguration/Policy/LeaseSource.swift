import DNSWire
import ProtocolCore

/// The source of an interface's routable address.
enum LeaseSource: Sendable {
    case server(DHCPClient)
    case owner(FixedLease)

    var nextDeadline: Instant? {
        switch self {
        case .server(let client): client.nextDeadline
        case .owner(let fixed): fixed.nextDeadline
        }
    }

    /// True if the address may be used again when the link returns.
    var hasCandidate: Bool {
        switch self {
        case .server(let client): client.candidate != nil
        case .owner(let fixed): !fixed.isInConflict
        }
    }

    mutating func handle(_ event: DHCPClient.Event, now: Instant) -> [DHCPClient.Action] {
        switch self {
        case .server(var client):
            let actions = client.handle(event, now: now)
            self = .server(client)
            return actions
        case .owner(var fixed):
            let actions = fixed.handle(event, now: now)
            self = .owner(fixed)
            return actions
        }
    }
}

/// The address that an owner chose, as a lease without an end. It is probed like the address of a server. If another host has
/// it, it is probed again every minute, and the interface has a link-local address meanwhile.
struct FixedLease: Sendable {
    private enum State {
        /// The link is down.
        case off
        case checking, bound
        case waiting(until: Instant)
    }

    /// The time between two attempts to use an address that another host has.
    static let pause = Duration.seconds(60)

    private let fixed: FixedAddress
    private var state = State.off

    init(_ fixed: FixedAddress) { self.fixed = fixed }

    var isInConflict: Bool { if case .waiting = state { true } else { false } }

    var nextDeadline: Instant? { if case .waiting(let until) = state { until } else { nil } }

    mutating func handle(_ event: DHCPClient.Event, now: Instant) -> [DHCPClient.Action] {
        switch (event, state) {
        case (.linkDown, _):
            state = .off
            return []
        case (.linkUp, _), (.resumed, .checking), (.resumed, .bound), (.resumed, .waiting): return check(now: now)
        case (.deadlineReached, .waiting(let until)): return until <= now ? check(now: now) : []
        case (.addressChecked, .checking):
            state = .bound
            return [.bound(lease(now: now))]
        case (.addressInConflict, .checking), (.addressInConflict, .bound):
            state = .waiting(until: now + Self.pause)
            return [.lost(.conflict)]
        case (.received, _), (.deadlineReached, _), (.addressChecked, _), (.addressInConflict, _), (.resumed, .off):
            return []
        }
    }

    private mutating func check(now: Instant) -> [DHCPClient.Action] {
        state = .checking
        return [.check(lease(now: now))]
    }

    private func lease(now: Instant) -> DHCPLease {
        DHCPLease(
            address: fixed.address, prefixLength: fixed.prefixLength,
            broadcast: fixed.address.broadcast(prefixLength: fixed.prefixLength), server: .any,
            routers: fixed.router.map { [$0] } ?? [], servers: NetworkServers(nameServers: fixed.nameServers),
            duration: nil, renewal: nil, rebinding: nil, obtained: now)
    }
}
