import DequeModule
public import PlugTopics
public import ProtocolCore

/// Orders to plugs of many houses as requests at a broker, and their answers: `Documentation/mqtt.md` is the contract.
///
/// A request that goes out again after a lost connection has the same Correlation Data and payload, so its plug carries it out once. It counts
/// for ``counting`` from when it went out first, wherever it waits: so who got no answer knows that nothing happens any more.
public struct FleetRequests: Machine, Sendable {
    public typealias Ticket = UInt64

    public enum Event: MachineEvent, Sendable {
        case ordered(Ticket, FleetOrder)
        /// The answer to ``Action/connect(server:)``.
        case connected
        /// The other answer, and the end of a connection.
        case disconnected(reason: String)
        /// The answer to ``Action/subscribe(_:)``.
        case subscribed(isGranted: Bool)
        /// The broker has a request, or says why it does not take it.
        case acknowledged(BrokerTicket, refusal: String?)
        case received(BrokerMessage)
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        /// - server: its place in the list.
        case connect(server: Int)
        /// The connection is of no use any more; answered by `disconnected`.
        case disconnect
        case subscribe(String)
        case publish(BrokerTicket, Publication)
        /// The last word on an order.
        case tell(Ticket, FleetOutcome)
    }

    private enum Link: Sendable {
        /// - until: when it is tried again; nil: when there is something to do.
        case idle(until: Instant?)
        case connecting
        case subscribing
        /// - since: when the last order was done, where there is none.
        case ready(idleSince: Instant?)
        case ending
    }

    private struct Entry: Sendable {
        let order: FleetOrder
        let correlation: [UInt8]
        let orderedAt: Instant
        /// When it first went out.
        var sentAt: Instant?
        /// The house was busy: it goes out again then.
        var waitsUntil: Instant?
        var isOut = false
    }

    /// Orders at a time. It stops a program from filling memory; a house has some twenty plugs.
    public static let limit = 2000
    /// Requests without an answer. It keeps a house that is told to turn everything off from refusing some of it as too much.
    static let flightLimit = 32
    /// So long a request counts.
    static let counting = Duration.seconds(10)
    /// So long its answer is waited for.
    static let patience = Duration.seconds(12)
    /// So long a broker is looked for.
    static let search = Duration.seconds(12)
    static let busyPause = Duration.seconds(1)
    /// A connection that nobody needs is kept for so long.
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
    /// Orders that are to go out, in turn.
    private var waiting: Deque<Ticket> = []
    /// Of those that are out.
    private var byCorrelation: [[UInt8]: Ticket] = [:]
    private var sent: [BrokerTicket: Ticket] = [:]
    private var lastSent: BrokerTicket = 0

    /// - Parameters:
    ///   - prefix: of the topics of all houses.
    ///   - client: the name of the session at the broker; answers go to a topic of that name.
    ///   - servers: how many there are to choose from.
    public init(prefix: String, client: String, servers: Int, seed: UInt64) {
        self.prefix = prefix
        self.servers = max(1, servers)
        answers = "\(prefix)/answers/\(client)"
        random = SeededRandom(seed: seed)
    }

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
            // One that waits for its turn behind others has time.
            if case .ready = link { return nil }
            return entry.orderedAt + Self.search
        }
        return sooner(sentAt + Self.patience, entry.waitsUntil)
    }

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
                lastFault = "it does not let this program hear answers on \(answers)"
                link = .ending
                actions.append(.disconnect)
            }
        case .disconnected(let reason): disconnected(reason, now)
        case .acknowledged(let number, let refusal):
            guard let ticket = sent.removeValue(forKey: number), let refusal else { break }
            end(ticket, .refused("the broker does not take it: \(refusal)"), now, &actions)
        case .received(let message): received(message, now, &actions)
        case .deadlineReached: deadlineReached(now, &actions)
        }
        pump(now, &actions)
        return actions
    }

    private mutating func ordered(_ ticket: Ticket, _ order: FleetOrder, _ now: Instant, _ actions: inout [Action]) {
        guard entries.count < Self.limit else {
            actions.append(.tell(ticket, .refused("more than \(Self.limit) orders at once")))
            return
        }
        do throws(TopicError) {
            _ = try TopicTree(prefix: prefix, house: order.house)
        } catch {
            actions.append(.tell(ticket, .refused("the house \(order.house) cannot be at a broker: \(error)")))
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
        // They go out again, before the others.
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
            // Too late: its answer may still come.
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
