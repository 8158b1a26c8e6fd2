public import DNSWire
public import ProtocolCore

/// Sees to it that an interface has a link-local IPv6 address. The kernel makes one and checks that nobody else has it
/// (RFC 4862 §5.4); where it was told not to, or found a duplicate, this machine adds one of RFC 7217 and has the kernel check it.
public struct IPv6LinkLocalClaim: Machine, Hashable, Sendable {
    /// What the kernel does about it by itself.
    public enum Kernel: Hashable, Sendable {
        /// It makes one when the link is there.
        case makesOne
        /// IPv6 is switched off (disable_ipv6).
        case disabled
        /// It was told to make none (addr_gen_mode 1).
        case makesNone
    }

    /// How far the kernel is with an address.
    public enum Progress: Hashable, Sendable { case tentative, duplicate, usable }

    public enum Event: MachineEvent, Hashable, Sendable {
        case deadlineReached
        case linkUp(Kernel)
        case linkDown
        /// The link-local addresses that the interface has now.
        case addresses([IPv6Address: Progress])
    }

    public enum Action: Hashable, Sendable {
        /// Switch IPv6 on for this interface.
        case enable
        /// Add the address; the kernel checks it.
        case assign(IPv6Address)
        case remove(IPv6Address)
        /// Another host has the address. `next`: when another one is tried, if not at once.
        case duplicate(IPv6Address, next: Duration?)
    }

    enum State: Hashable, Sendable {
        case off
        /// For the kernel's own.
        case waiting(until: Instant)
        /// One of ours is tentative, or about to be.
        case checking(until: Instant)
        case present
        /// After ``retries`` further tries.
        case resting(until: Instant)
    }

    /// RFC 7217 §7: IDGEN_RETRIES.
    public static let retries: UInt8 = 3
    /// After the retries: somebody on the link answers for every address, or the card hears itself.
    public static let rest = Duration.seconds(3600)
    /// How long the kernel's address may take: it checks for 1-2 s (RFC 4862 §5.1), and tells of it after that.
    public static let patience = Duration.seconds(5)

    private let interface: String
    private let secret: [UInt8]
    private(set) var state = State.off
    /// DAD_Counter: how many of our addresses were duplicates since the link is there.
    private var duplicates: UInt8 = 0
    private var present: [IPv6Address: Progress] = [:]
    /// Duplicates that were told and are still there.
    private var told: Set<IPv6Address> = []

    /// - Parameters:
    ///   - interface: its name.
    ///   - secret: of the plug, at least 16 bytes.
    public init(interface: String, secret: [UInt8]) {
        self.interface = interface
        self.secret = secret
    }

    public var nextDeadline: Instant? {
        switch state {
        case .off, .present: nil
        case .waiting(let until), .checking(let until), .resting(let until): until
        }
    }

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
        // The kernel makes one when it is switched on, unless it was told not to; that shows when the time is up.
        case .disabled: return [.enable]
        case .makesNone: return isPresent ? look(now: now) : [assign(now: now)]
        }
    }

    /// Where it is tentative, it will be usable or a duplicate.
    private var isPresent: Bool { present.values.contains { $0 != .duplicate } }

    private mutating func look(now: Instant) -> [Action] {
        let found = present.filter { $0.value == .duplicate && !told.contains($0.key) }.keys.sorted { $0.low < $1.low }
        told.formUnion(found)
        // A tried one would be tried again if the kernel made the same.
        if found.contains(candidate) { duplicates += 1 }
        let removals = found.map { Action.remove($0) }
        if present.values.contains(.usable) {
            // Any will do: a plug needs one.
            state = .present
            return found.map { .duplicate($0, next: nil) } + removals
        }
        guard !found.isEmpty else {
            // Somebody took it away, and the kernel makes none before the link is lost.
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
            // The check goes on or began late; or adding it failed, and is tried again.
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
