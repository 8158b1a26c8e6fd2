import MatterSessions
import ProtocolCore

/// The faults of a simulated link.
public struct MatterLinkFaults: Sendable {
    /// The probability that a datagram is lost.
    public var loss: Double
    /// The probability that a datagram arrives twice.
    public var duplication: Double
    /// The delay of each datagram is drawn from this range, so that datagrams overtake each other.
    public var delay: ClosedRange<Duration>
    /// The number of datagrams that still pass before the link is cut; nil: the link is not cut.
    public var passesBeforeCut: Int?

    /// Creates a set of faults.
    public init(
        loss: Double = 0, duplication: Double = 0,
        delay: ClosedRange<Duration> = .milliseconds(1) ... .milliseconds(1), passesBeforeCut: Int? = nil
    ) {
        (self.loss, self.duplication, self.delay) = (loss, duplication, delay)
        self.passesBeforeCut = passesBeforeCut
    }

    /// A link without loss and with a delay of 1 ms.
    public static let none = MatterLinkFaults()
    /// A link that loses 30 % of the datagrams, and duplicates, delays and reorders others.
    public static let bad = MatterLinkFaults(
        loss: 0.3, duplication: 0.15, delay: .milliseconds(1) ... .milliseconds(180))
}

/// A simulated link in virtual time: datagrams with their times of arrival.
struct MatterLink: Sendable {
    struct Datagram: Sendable {
        var bytes: [UInt8]
        var from: MatterPeer
        var to: MatterPeer
    }

    private struct InFlight: Sendable {
        var due: Instant
        /// Ties are broken by the order of sending, so that a run repeats exactly.
        var order: UInt64
        var datagram: Datagram
    }

    var faults: MatterLinkFaults
    private var random: SeededRandom
    private var inFlight: [InFlight] = []
    private var order: UInt64 = 0
    /// The number of datagrams that were sent, including lost ones.
    private(set) var sent = 0

    init(_ faults: MatterLinkFaults, random: SeededRandom) { (self.faults, self.random) = (faults, random) }

    var next: Instant? { inFlight.map(\.due).min() }
    var isCut: Bool { faults.passesBeforeCut == 0 }

    mutating func send(_ datagram: Datagram, now: Instant) {
        sent += 1
        if let left = faults.passesBeforeCut {
            guard left > 0 else { return }
            faults.passesBeforeCut = left - 1
        }
        if random.chance(faults.loss) { return }
        for _ in 0..<(random.chance(faults.duplication) ? 2 : 1) {
            order += 1
            let due = now + random.duration(in: faults.delay)
            inFlight.append(InFlight(due: due, order: order, datagram: datagram))
        }
    }

    /// Removes and returns the next datagram that has arrived.
    mutating func receive(now: Instant) -> Datagram? {
        let due = inFlight.indices.filter { inFlight[$0].due <= now }
        let first = due.min { left, right in
            (inFlight[left].due, inFlight[left].order) < (inFlight[right].due, inFlight[right].order)
        }
        return first.map { inFlight.remove(at: $0).datagram }
    }

    /// Drops all datagrams in flight.
    mutating func clear() { inFlight = [] }
}
