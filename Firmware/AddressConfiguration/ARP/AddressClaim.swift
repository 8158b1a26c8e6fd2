public import DNSWire
public import LinkWire
public import ProtocolCore

/// The claim on one address by ARP (RFC 5227): asks whether anybody has it, says that we do, and defends it ever after.
///
/// It says what to send and what became of the claim; whoever owns it decides what follows. After
/// ``Result/conflict(with:)`` it is over and is to be dropped.
public struct AddressClaim: Hashable, Sendable {
    /// Each with what comes next, and when.
    public enum State: Hashable, Sendable {
        /// Probes sent so far; the address must not be used yet.
        case probing(sent: Int, next: Instant)
        /// The address is ours; announcements sent so far.
        case announcing(sent: Int, next: Instant)
        case held
    }

    public enum Result: Hashable, Sendable {
        /// Nobody has it: from now on it may be used.
        case usable
        /// Another card has it, or wants it at the same moment, or did not give way to our defence. It is not ours.
        case conflict(with: MACAddress)
        /// Another card used it and was told; the address stays ours unless that goes on.
        case defended(against: MACAddress)
    }

    /// What a step of the claim asks for.
    public struct Outcome: Hashable, Sendable {
        public let packets: [ARPPacket]
        public let result: Result?

        public init(packets: [ARPPacket] = [], result: Result? = nil) {
            self.packets = packets
            self.result = result
        }

        static let nothing = Outcome()
    }

    public let address: IPv4Address
    public private(set) var state: State
    private let hardware: MACAddress
    private let timing: ClaimTiming
    private var random: SeededRandom
    /// When the last packet came that we answered with a defence.
    private var lastConflict: Instant?

    /// Probing begins at once, with the first wait.
    /// - Parameter hardware: the card's own address. What comes from it is an echo, as access points make them, and no conflict.
    public init(
        _ address: IPv4Address, hardware: MACAddress, timing: ClaimTiming, random: SeededRandom, now: Instant
    ) {
        self.address = address
        self.hardware = hardware
        self.timing = timing
        self.random = random
        state = .probing(sent: 0, next: now + self.random.duration(in: timing.firstWait))
    }

    /// True from the moment of ``Result/usable``.
    public var isUsable: Bool {
        switch state {
        case .probing: false
        case .announcing, .held: true
        }
    }

    public var nextDeadline: Instant? {
        switch state {
        case .probing(_, let next), .announcing(_, let next): next
        case .held: nil
        }
    }

    /// Sends what is due. Called late it sends later, never faster: the waits count from what was really sent.
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

    /// A packet of the link, whoever it is for.
    public mutating func received(_ packet: ARPPacket, now: Instant) -> Outcome {
        guard packet.senderHardware != hardware else { return .nothing }
        switch state {
        case .probing:
            // Somebody who probes for it at the same moment has as little right to it as we (RFC 5227 §2.1.1).
            let isWanted = packet.isProbe && packet.targetAddress == address
            guard isWanted || packet.senderAddress == address else { return .nothing }
            return Outcome(result: .conflict(with: packet.senderHardware))
        case .announcing, .held:
            guard packet.senderAddress == address else { return .nothing }
            return defend(against: packet.senderHardware, now: now)
        }
    }

    /// Says once that the address is ours, and gives it up when that did not help (RFC 5227 §2.4 (b), RFC 3927 §2.5 (b)):
    /// two that both hold on would disturb each other for ever.
    private mutating func defend(against other: MACAddress, now: Instant) -> Outcome {
        if let lastConflict, now - lastConflict < RFC3927.defendInterval {
            return Outcome(result: .conflict(with: other))
        }
        lastConflict = now
        return Outcome(packets: [.announcement(of: address, from: hardware)], result: .defended(against: other))
    }
}
