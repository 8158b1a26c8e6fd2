public import DNSWire
public import ProtocolCore

/// The claim on one address by ARP (RFC 5227). Probes whether another host uses the address, announces it, and defends
/// it from then on.
///
/// The claim returns the packets to send and its result; its owner decides how to continue. After
/// ``Result/conflict(with:)`` the claim has ended and must be dropped.
public struct AddressClaim: Hashable, Sendable {
    /// The state of the claim, with the time of the next step.
    public enum State: Hashable, Sendable {
        /// The number of probes sent so far. The address must not be used yet.
        case probing(sent: Int, next: Instant)
        /// The number of announcements sent so far. The address is usable.
        case announcing(sent: Int, next: Instant)
        /// The claim is complete. The address is defended.
        case held
    }

    /// The result of a step, for the owner of the claim.
    public enum Result: Hashable, Sendable {
        /// No other host has the address. It may be used from now on.
        case usable
        /// Another host uses the address, probes for it at the same time, or used it again within 10 s of our defence.
        /// The claim failed.
        case conflict(with: MACAddress)
        /// Another host used the address and received our defence. The claim continues; a further use within 10 s ends
        /// it with ``conflict(with:)``.
        case defended(against: MACAddress)
    }

    /// The packets to send after a step of the claim, and the result.
    public struct Outcome: Hashable, Sendable {
        /// The packets to send.
        public let packets: [ARPPacket]
        /// The result, or nil if the claim continues as before.
        public let result: Result?

        /// Creates an outcome.
        public init(packets: [ARPPacket] = [], result: Result? = nil) {
            self.packets = packets
            self.result = result
        }

        static let nothing = Outcome()
    }

    /// The claimed address.
    public let address: IPv4Address
    /// The current state.
    public private(set) var state: State
    private let hardware: MACAddress
    private let timing: ClaimTiming
    private var random: SeededRandom
    /// The time of the last packet that was answered with a defence.
    private var lastConflict: Instant?

    /// Starts probing with the first wait.
    ///
    /// - Parameter hardware: the card's own address. Packets from it are not conflicts: an access point sends a card
    ///   its own broadcasts back.
    public init(
        _ address: IPv4Address, hardware: MACAddress, timing: ClaimTiming, random: SeededRandom, now: Instant
    ) {
        self.address = address
        self.hardware = hardware
        self.timing = timing
        self.random = random
        state = .probing(sent: 0, next: now + self.random.duration(in: timing.firstWait))
    }

    /// True after ``Result/usable``.
    public var isUsable: Bool {
        switch state {
        case .probing: false
        case .announcing, .held: true
        }
    }

    /// The time of the next packet, or nil when the claim is complete.
    public var nextDeadline: Instant? {
        switch state {
        case .probing(_, let next), .announcing(_, let next): next
        case .held: nil
        }
    }

    /// Sends the next packet if it is due. If the call is late, later packets are delayed as well: the waits count from
    /// the real sending time.
    public mutating func deadlineReached(now: Instant) -> Outcome {
        switch state {
        case .probing(let sent, let next) where now >= next:
            guard sent < RFC3927.probeCount else { return firstAnnouncement(now: now) }
            let wait = sent + 1 < RFC3927.probeCount ? random.duration(in: timing.gap) : timing.lastWait
            state = .probing(sent: sent + 1, next: now + wait)
            return Outcome(packets: [.probe(for: address, from: hardware)])
        case .announcing(let sent, let next) where now >= next:
            state =
                sent + 1 < RFC3927.announceCount
                ? .announcing(sent: sent + 1, next: now + RFC3927.announceInterval) : .held
            return Outcome(packets: [.announcement(of: address, from: hardware)])
        case .probing, .announcing, .held:
            return .nothing
        }
    }

    private mutating func firstAnnouncement(now: Instant) -> Outcome {
        state = .announcing(sent: 1, next: now + RFC3927.announceInterval)
        return Outcome(packets: [.announcement(of: address, from: hardware)], result: .usable)
    }

    /// Handles any ARP packet of the link.
    public mutating func received(_ packet: ARPPacket, now: Instant) -> Outcome {
        guard packet.senderHardware != hardware else { return .nothing }
        switch state {
        case .probing:
            // A simultaneous probe for the address by another host is a conflict too (RFC 5227 §2.1.1).
            let isWanted = packet.isProbe && packet.targetAddress == address
            guard isWanted || packet.senderAddress == address else { return .nothing }
            return Outcome(result: .conflict(with: packet.senderHardware))
        case .announcing, .held:
            guard packet.senderAddress == address else { return .nothing }
            return defend(against: packet.senderHardware, now: now)
        }
    }

    /// Announces the address once, and gives it up at the next conflict within DEFEND_INTERVAL, 10 s (RFC 5227 §2.4
    /// (b), RFC 3927 §2.5 (b)). If both hosts kept the address, they would disturb each other forever.
    private mutating func defend(against other: MACAddress, now: Instant) -> Outcome {
        if let lastConflict, now - lastConflict < RFC3927.defendInterval {
            return Outcome(result: .conflict(with: other))
        }
        lastConflict = now
        return Outcome(packets: [.announcement(of: address, from: hardware)], result: .defended(against: other))
    }
}
