import DequeModule
public import PlugTopics
public import ProtocolCore

/// Sends orders to plugs of many houses as requests through a broker, and receives their answers. The format is in
/// `Documentation/reference/mqtt.md`.
///
/// A request that is sent again after a lost connection has the same Correlation Data and payload, so its plug performs
/// it once. A request expires 10 s (``counting``) after it was first sent, also while it waits at the broker or in the
/// house. An order without an answer is therefore not performed later.
public struct FleetRequests: Machine, Sendable {
    /// The caller's number of an order.
    public typealias Ticket = UInt64

    /// An input of the machine.
    public enum Event: MachineEvent, Sendable {
        /// The caller requests an order with a new ticket.
        case ordered(Ticket, FleetOrder)
        /// The connection of ``Action/connect(server:)`` is established.
        case connected
        /// ``Action/connect(server:)`` failed, or the connection ended.
        case disconnected(reason: String)
        /// The broker granted or rejected the subscription of ``Action/subscribe(_:)``.
        case subscribed(isGranted: Bool)
        /// The broker acknowledged a request, or rejected it with a reason.
        case acknowledged(BrokerTicket, refusal: String?)
        /// The broker delivered a message.
        case received(BrokerMessage)
        /// The time of ``FleetRequests/nextDeadline`` has passed.
        case deadlineReached
    }

    /// An output of the machine, performed by the shell.
    public enum Action: Hashable, Sendable {
        /// Connect to the server at this index of the list. `connected` or `disconnected` answers it.
        case connect(server: Int)
        /// End the connection. `disconnected` answers it.
        case disconnect
        /// Subscribe to a topic.
        case subscribe(String)
        /// Publish a request. `acknowledged` with this ticket answers it.
        case publish(BrokerTicket, Publication)
        /// Report the final outcome of an order.
        case tell(Ticket, FleetOutcome)
    }

    private enum Link: Sendable {
        /// Without a connection. `until` is the time of the next attempt; nil while no orders exist.
        case idle(until: Instant?)
        case connecting
        case subscribing
        /// Subscribed to the answers. `idleSince` is the time at which the last order was completed; nil while there
        /// are orders.
        case ready(idleSince: Instant?)
        case ending
    }

    private struct Entry: Sendable {
        let order: FleetOrder
        let correlation: [UInt8]
        let orderedAt: Instant
        /// The time at which the request was first sent.
        var sentAt: Instant?
        /// The time at which the request is sent again, because the house was busy.
        var waitsUntil: Instant?
        var isOut = false
    }

    /// The maximum number of simultaneous orders. It limits the memory; a house has about twenty plugs.
    public static let limit = 2000
    /// The maximum number of unanswered requests. More could exceed the limit of requests of a house, which would
    /// reject some as busy.
    static let flightLimit = 32
    /// The validity of a request.
    static let counting = Duration.seconds(10)
    /// The time to wait for an answer.
    static let patience = Duration.seconds(12)
    /// The time for connecting to a broker. An order that is not sent within this time fails, unless the connection is
    /// ready and the order waits behind others.
    static let search = Duration.seconds(12)
    /// The pause after a house was too busy.
    static let busyPause = Duration.seconds(1)
    /// The time that an unused connection is kept.
    static let keeping = Duration.seconds(60)
    private static let reconnecting = Duration.seconds(1)

    private let prefix: String
    private let servers: Int
    private let answers: String
    private var random: SeededRandom
    private var link = Link.idle(until: nil)
    private var server = 0
    private var lastFault = "it is not connected yet"
    private var entries: [Ticket: Entry] = [:]
    /// The orders that wait to be sent, the next one first.
    private var waiting: Deque<Ticket> = []
    /// The orders by their correlation data.
    private var byCorrelation: [[UInt8]: Ticket] = [:]
    private var sent: [BrokerTicket: Ticket] = [:]
    private var lastSent: BrokerTicket = 0

    /// Creates a machine without orders and without a connection.
    ///
    /// - Parameters:
    ///   - prefix: the prefix of the topics of all houses.
    ///   - client: the client id at the broker, which is also part of the topic for answers.
    ///   - servers: the number of servers in the list.
    public init(prefix: String, client: String, servers: Int, seed: UInt64) {
        self.prefix = prefix
        self.servers = max(1, servers)
        answers = "\(prefix)/answers/\(client)"
        random = SeededRandom(seed: seed)
    }

    /// The next time at which `handle` needs `deadlineReached`, or nil.
    public var nextDeadline: Instant? {
        var next: Instant?
        switch link {
        case .idle(let until): next = until
        case .ready(let since): next = since.map { $0 + Self.keeping }
        case .connecting, .subscribing, .ending: break
        }
        for entry in entries.values { next = sooner(next, deadline(of: entry)) }
        return next
    }

    private func deadline(of entry: Entry) -> Instant? {
        guard let sentAt = entry.sentAt else {
            // An order that waits behind others has no deadline.
            if case .ready = link { return nil }
            return entry.orderedAt + Self.search
        }
        return sooner(sentAt + Self.patience, entry.waitsUntil)
    }

    /// Handles an event and returns the actions in their order.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .ordered(let ticket, let order): ordered(ticket, order, now, &actions)
        case .connected:
            guard case .connecting = link else { break }
            link = .subscribing
            actions.append(.subscribe(answers))
        case .subscribed(let isGranted):
            guard case .subscribing = link else { break }
            if isGranted {
                link = .ready(idleSince: now)
            } else {
                lastFault = "it does not allow this program to receive answers on \(answers)"
                link = .ending
                actions.append(.disconnect)
            }
        case .disconnected(let reason): disconnected(reason, now)
        case .acknowledged(let number, let refusal):
            guard let ticket = sent.removeValue(forKey: number), let refusal else { break }
            end(ticket, .refused("the broker rejected the request: \(refusal)"), now, &actions)
        case .received(let message): received(message, now, &actions)
        case .deadlineReached: deadlineReached(now, &actions)
        }
        pump(now, &actions)
        return actions
    }

    private mutating func ordered(_ ticket: Ticket, _ order: FleetOrder, _ now: Instant, _ actions: inout [Action]) {
        guard entries.count < Self.limit else {
            actions.append(.tell(ticket, .refused("more than \(Self.limit) commands at once")))
            return
        }
        do throws(TopicError) {
            _ = try TopicTree(prefix: prefix, house: order.house)
        } catch {
            actions.append(.tell(ticket, .refused("the house name \(order.house) is not valid at a broker: \(error)")))
            return
        }
        let correlation = (0..<2).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        entries[ticket] = Entry(order: order, correlation: correlation, orderedAt: now)
        byCorrelation[correlation] = ticket
        waiting.append(ticket)
        if case .idle(nil) = link { connect(&actions) }
    }

    private mutating func connect(_ actions: inout [Action]) {
        link = .connecting
        actions.append(.connect(server: server))
    }

    private mutating func disconnected(_ reason: String, _ now: Instant) {
        if case .ending = link {} else { lastFault = reason }
        sent = [:]
        // Unanswered requests are sent again, before the others.
        let out = entries.filter { $0.value.isOut }.sorted { $0.key < $1.key }
        for (ticket, _) in out { entries[ticket]?.isOut = false }
        waiting.prepend(contentsOf: out.map(\.key))
        server = (server + 1) % servers
        link = .idle(
            until: entries.isEmpty ? nil : now + random.duration(in: Self.reconnecting / 4...Self.reconnecting))
    }

    private mutating func received(_ message: BrokerMessage, _ now: Instant, _ actions: inout [Action]) {
        guard message.topic == answers, let correlation = message.correlation,
            let ticket = byCorrelation[correlation], let sentAt = entries[ticket]?.sentAt
        else { return }
        if FleetOutcome.isBusy(message.payload), now + Self.busyPause < sentAt + Self.counting {
            entries[ticket]?.isOut = false
            entries[ticket]?.waitsUntil = now + Self.busyPause
            return
        }
        end(ticket, FleetOutcome(answer: message.payload), now, &actions)
    }

    private mutating func end(_ ticket: Ticket, _ outcome: FleetOutcome, _ now: Instant, _ actions: inout [Action]) {
        guard let entry = entries.removeValue(forKey: ticket) else { return }
        byCorrelation[entry.correlation] = nil
        if !entry.isOut { waiting.removeAll { $0 == ticket } }
        actions.append(.tell(ticket, outcome))
        if entries.isEmpty, case .ready = link { link = .ready(idleSince: now) }
    }

    private mutating func deadlineReached(_ now: Instant, _ actions: inout [Action]) {
        for (ticket, entry) in entries.sorted(by: { $0.key < $1.key }) {
            guard let deadline = deadline(of: entry), deadline <= now else { continue }
            if let sentAt = entry.sentAt, now < sentAt + Self.patience {
                entries[ticket]?.waitsUntil = nil
                waiting.append(ticket)
            } else {
                end(ticket, entry.sentAt == nil ? .unreachable(lastFault) : .unanswered, now, &actions)
            }
        }
        switch link {
        case .idle(let until?) where until <= now:
            if entries.isEmpty { link = .idle(until: nil) } else { connect(&actions) }
        case .ready(let since?) where since + Self.keeping <= now && entries.isEmpty:
            link = .ending
            actions.append(.disconnect)
        case .idle, .ready, .connecting, .subscribing, .ending: break
        }
    }

    private mutating func pump(_ now: Instant, _ actions: inout [Action]) {
        guard case .ready = link else { return }
        if !entries.isEmpty { link = .ready(idleSince: nil) }
        var out = entries.values.count(where: \.isOut)
        while out < Self.flightLimit, let ticket = waiting.popFirst() {
            guard var entry = entries[ticket] else { continue }
            let sentAt = entry.sentAt ?? now
            let left = Self.counting - (now - sentAt)
            // The remaining time is too short to send the request again, but its answer may still arrive.
            guard left >= .seconds(1) else { continue }
            guard let tree = try? TopicTree(prefix: prefix, house: entry.order.house) else { continue }
            (entry.sentAt, entry.isOut) = (sentAt, true)
            entries[ticket] = entry
            out += 1
            lastSent += 1
            sent[lastSent] = ticket
            let publication = Publication(
                tree.topic(.set, of: entry.order.plug), entry.order.payload, isRetained: false,
                correlation: entry.correlation, responseTopic: answers, expiry: UInt32(left.components.seconds))
            actions.append(.publish(lastSent, publication))
        }
    }
}
