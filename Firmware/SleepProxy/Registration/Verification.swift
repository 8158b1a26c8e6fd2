import DNSWire
import MulticastDNS
import ProtocolCore

/// The check that a registering host has the addresses of its registration: each address must answer from the host's
/// card, and from no other card.
struct Verification: Hashable, Sendable {
    /// A message that waits for the result.
    struct Request: Hashable, Sendable {
        let id: UInt16
        let peer: Peer
        let lease: UInt32
    }

    /// The result of a step.
    enum Outcome: Hashable, Sendable {
        /// The requests to these addresses are due.
        case ask([IPAddress])
        /// Every address answered from the card.
        case verified
        /// An address did not answer, or a different card answered.
        case failed(RefusalReason)
    }

    /// The host and its card.
    let owner: OwnerOption
    /// The records of all messages so far.
    private(set) var records: SleeperRecords
    /// The messages to answer.
    private(set) var requests: [Request]
    /// The addresses without an answer.
    private var unanswered: Set<IPAddress>
    private var sent = 0
    private var next: Instant
    /// The earliest time of success, so that a second card can contradict.
    private var earliest: Instant

    init(owner: OwnerOption, records: SleeperRecords, request: Request, now: Instant) {
        self.owner = owner
        self.records = records
        requests = [request]
        unanswered = Set(records.addresses)
        next = now
        earliest = now
    }

    /// The time of the next step.
    var nextDeadline: Instant { unanswered.isEmpty ? earliest : next }

    /// Returns true if the message was already received.
    func contains(_ request: Request) -> Bool { requests.contains { $0.id == request.id && $0.peer == request.peer } }

    /// Adds a further message with the merged records.
    mutating func add(_ request: Request, records: SleeperRecords, now: Instant) {
        let added = Set(records.addresses).subtracting(self.records.addresses)
        self.records = records
        requests.append(request)
        guard !added.isEmpty else { return }
        unanswered.formUnion(added)
        (sent, next) = (0, now)
    }

    /// Handles an answer for an address from a card.
    mutating func answered(_ address: IPAddress, by card: MACAddress) -> Outcome? {
        guard records.addresses.contains(address) else { return nil }
        guard card == owner.card else { return .failed(.answerOfAnotherCard) }
        unanswered.remove(address)
        return nil
    }

    /// Performs the step that is due, or returns nil.
    mutating func step(limits: SleepProxyLimits, now: Instant) -> Outcome? {
        guard now >= nextDeadline else { return nil }
        guard !unanswered.isEmpty else { return .verified }
        guard sent < limits.verificationRequests else { return .failed(.noAnswer) }
        sent += 1
        next = now + limits.verificationInterval
        earliest = now + limits.contradictionWait
        return .ask(records.addresses.filter(unanswered.contains))
    }
}
