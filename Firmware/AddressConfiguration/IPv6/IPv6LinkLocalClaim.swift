public import DNSWire
public import ProtocolCore

/// Ensures that an interface has a link-local IPv6 address. The kernel creates one and checks that it is unique (RFC
/// 4862 §5.4). If the kernel is configured to create none or finds a duplicate, this machine adds an address of RFC
/// 7217 and lets the kernel check it. If IPv6 is disabled, the machine enables it.
public struct IPv6LinkLocalClaim: Machine, Hashable, Sendable {
    /// The kernel's own behaviour.
    public enum Kernel: Hashable, Sendable {
        /// The kernel creates an address when the link comes up.
        case makesOne
        /// IPv6 is disabled (disable_ipv6).
        case disabled
        /// The kernel is configured to create none (addr_gen_mode 1).
        case makesNone
    }

    /// The kernel's state of an address.
    public enum Progress: Hashable, Sendable { case tentative, duplicate, usable }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The time of ``IPv6LinkLocalClaim/nextDeadline`` was reached.
        case deadlineReached
        /// The link is up. The value is the kernel's own behaviour on this interface.
        case linkUp(Kernel)
        /// The link is down.
        case linkDown
        /// The current link-local addresses of the interface.
        case addresses([IPv6Address: Progress])
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Enables IPv6 on this interface.
        case enable
        /// Adds the address; the kernel checks it.
        case assign(IPv6Address)
        /// Removes the address.
        case remove(IPv6Address)
        /// Another host has the address. `next` is the pause until the next attempt. It is nil if the next attempt
        /// follows immediately, or if none is necessary because another address is usable.
        case duplicate(IPv6Address, next: Duration?)
    }

    enum State: Hashable, Sendable {
        case off
        /// The machine waits for the kernel's own address.
        case waiting(until: Instant)
        /// One of our addresses is tentative or is being added.
        case checking(until: Instant)
        case present
        /// The machine pauses, because the first candidate and ``retries`` further ones were duplicates.
        case resting(until: Instant)
    }

    /// The number of retries (RFC 7217 §7: IDGEN_RETRIES).
    public static let retries: UInt8 = 3
    /// The pause after all retries have failed, for example because a host on the link answers for every address or the
    /// card receives its own packets.
    public static let rest = Duration.seconds(3600)
    /// The time limit for the kernel's address. The kernel checks for 1-2 s (RFC 4862 §5.1) and then reports the
    /// address.
    public static let patience = Duration.seconds(5)

    private let interface: String
    private let secret: [UInt8]
    private(set) var state = State.off
    /// DAD_Counter: the number of our addresses that were duplicates since the link came up or the last pause ended.
    private var duplicates: UInt8 = 0
    private var present: [IPv6Address: Progress] = [:]
    /// The duplicates that were reported and are still present.
    private var told: Set<IPv6Address> = []

    /// - Parameters:
    ///   - interface: the name of the interface.
    ///   - secret: the plug's secret, at least 16 bytes.
    public init(interface: String, secret: [UInt8]) {
        self.interface = interface
        self.secret = secret
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        switch state {
        case .off, .present: nil
        case .waiting(let until), .checking(let until), .resting(let until): until
        }
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .linkUp(let kernel): return linkUp(kernel, now: now)
        case .linkDown:
            state = .off
            return []
        case .addresses(let addresses):
            present = addresses
            told.formIntersection(addresses.keys)
            return state == .off ? [] : look(now: now)
        case .deadlineReached: return nextDeadline.map { $0 <= now } == true ? timeIsUp(now: now) : []
        }
    }

    private mutating func linkUp(_ kernel: Kernel, now: Instant) -> [Action] {
        duplicates = 0
        told = []
        state = .waiting(until: now + Self.patience)
        switch kernel {
        case .makesOne: return look(now: now)
        // The kernel creates an address when IPv6 is enabled, unless it is configured not to. The timeout detects that.
        case .disabled: return [.enable]
        case .makesNone: return isPresent ? look(now: now) : [assign(now: now)]
        }
    }

    /// True if an address is usable or tentative. A tentative one will become usable or a duplicate.
    private var isPresent: Bool { present.values.contains { $0 != .duplicate } }

    private mutating func look(now: Instant) -> [Action] {
        let found = present.filter { $0.value == .duplicate && !told.contains($0.key) }.keys.sorted { $0.low < $1.low }
        told.formUnion(found)
        // If the candidate is a duplicate, the counter selects the next candidate.
        if found.contains(candidate) { duplicates += 1 }
        let removals = found.map { Action.remove($0) }
        if present.values.contains(.usable) {
            // Any usable address suffices.
            state = .present
            return found.map { .duplicate($0, next: nil) } + removals
        }
        guard !found.isEmpty else {
            // Another program removed the address, and the kernel creates none until the link changes. After the wait,
            // this machine adds one.
            if state == .present { state = .waiting(until: now + Self.patience) }
            return []
        }
        guard duplicates <= Self.retries else {
            state = .resting(until: now + Self.rest)
            return found.map { .duplicate($0, next: Self.rest) } + removals
        }
        return found.map { .duplicate($0, next: nil) } + removals + [assign(now: now)]
    }

    private mutating func timeIsUp(now: Instant) -> [Action] {
        switch state {
        case .off, .present: return []
        case .waiting, .checking:
            // If no address is present, the kernel created none or did not add ours, so the candidate is added.
            // Otherwise the kernel's check is still in progress.
            guard isPresent else { return [assign(now: now)] }
            state = .waiting(until: now + Self.patience)
            return []
        case .resting:
            duplicates = 0
            return [assign(now: now)]
        }
    }

    private var candidate: IPv6Address {
        IPv6StableIdentifier.linkLocalAddress(interface: interface, attempt: duplicates, secret: secret)
    }

    private mutating func assign(now: Instant) -> Action {
        state = .checking(until: now + Self.patience)
        return .assign(candidate)
    }
}
