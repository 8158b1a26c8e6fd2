import DNSWire
import MulticastDNS
import ProtocolCore

@testable import UnicastDNS

/// The zone `example.org` with a name server and a push server, and browsers that use both, in virtual time. Every
/// message takes 10 ms.
struct VirtualPush {
    /// The behaviour of the push server.
    struct Server {
        /// True if the zone names the server.
        var isOffered = true
        /// True if the zone names a server of long-lived queries.
        var offersQueries = false
        var acceptsConnections = true
        /// The RCODE of the responses to requests for timeouts and for subscriptions.
        var sessionCode: UInt16 = 0
        var subscriptionCode: @Sendable (Question) -> UInt16 = { _ in 0 }
        /// The items in unsuccessful responses.
        var items: [StatefulItem] = []
        var interval: UInt32 = 3_600_000
        /// The number of records in a message, and the time between two messages.
        var recordsPerMessage = 50
        var pause = Duration.zero
        var isSilent = false
    }

    private enum Delivery {
        case answer(QueryID, Question)
        case opened(ExchangeID)
        case toServer(ExchangeID, [UInt8])
        case toClient(ExchangeID, [UInt8])
        case closed(ExchangeID)
    }

    static let type: Name = "_smartplug._tcp.example.org"
    static let zoneName: Name = "example.org"

    var server = Server()
    private(set) var now = Instant.zero
    private(set) var zone: [Record] = []
    /// The services that each browser has reported.
    private(set) var services: [[Name: DomainService]] = []
    /// The reports of all browsers, found and lost.
    private(set) var reports: [DomainBrowser.Action] = []
    /// The questions that reached the name server.
    private(set) var asked: [(at: Instant, question: Question)] = []
    /// The messages that reached the push server.
    private(set) var received: [(at: Instant, message: StatefulMessage)] = []
    private(set) var connections: [Instant] = []
    private(set) var transports: Set<PushClient.Transport> = []
    private(set) var failures: [PushFailure] = []
    private(set) var open: ExchangeID?
    private(set) var subscriptions: [Question: UInt16] = [:]
    private var browsers: [DomainBrowser] = []
    private var client: PushClient
    private var deliveries: [(at: Instant, delivery: Delivery)] = []
    private var lastSent = Instant.zero
    private var cache: [Question: ResolvedRecords] = [:]
    private let delay = Duration.milliseconds(10)

    init(_ zone: [Record] = [], browsers count: Int = 1, seed: UInt64 = 1) throws {
        self.zone = zone
        client = PushClient(firstQuery: QueryID(rawValue: 0), random: SeededRandom(seed: seed))
        for _ in 0..<count { try browse() }
    }

    /// Starts a further browser.
    mutating func browse() throws {
        let first = QueryID(rawValue: UInt64(browsers.count + 1) << 32)
        browsers.append(try DomainBrowser("_smartplug._tcp", in: Self.zoneName, firstQuery: first))
        services.append([:])
        handle(.refresh, by: browsers.count - 1)
    }

    /// Lets the time pass.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while true {
            let deadline = browsers.reduce(client.nextDeadline) { sooner($0, $1.nextDeadline) }
            guard let next = sooner(deliveries.first?.at, deadline), next <= end else { break }
            now = max(now, next)
            if let delivery = deliveries.first, delivery.at <= now {
                deliveries.removeFirst()
                perform(delivery.delivery)
            } else {
                handle(.deadlineReached)
                for index in browsers.indices { handle(.deadlineReached, by: index) }
            }
        }
        now = end
    }

    /// Adds records to the zone and pushes them.
    mutating func add(_ records: [Record]) {
        zone += records
        push(records.map(RecordChange.add))
    }

    /// Removes records from the zone and pushes the removals.
    mutating func remove(_ records: [Record]) {
        zone.removeAll { known in records.contains { $0.hasSameContent(as: known) } }
        push(records.map(RecordChange.remove))
    }

    /// Sends changes to the client, without changing the zone.
    mutating func push(_ changes: [RecordChange]) {
        var at = now
        for start in stride(from: 0, to: changes.count, by: server.recordsPerMessage) {
            let part = changes[start..<min(changes.count, start + server.recordsPerMessage)]
            let known = part.filter { change in subscriptions.keys.contains { change.concerns($0) } }
            if !known.isEmpty { send(StatefulMessage(items: [.push(known)]), at: at) }
            at = at + server.pause
        }
    }

    /// Sends a message to the client.
    mutating func send(_ message: StatefulMessage, at: Instant? = nil) {
        guard let bytes = try? message.encoded() else { preconditionFailure("a message that is too long") }
        send(bytes, at: at)
    }

    mutating func send(_ bytes: [UInt8], at: Instant? = nil) {
        guard let open else { return }
        // A connection keeps the order of messages.
        lastSent = max(at ?? now, lastSent)
        schedule(.toClient(open, bytes), at: lastSent + delay)
    }

    /// Closes the connection.
    mutating func disconnect() {
        guard let id = open else { return }
        open = nil
        subscriptions = [:]
        schedule(.closed(id), at: now + delay)
    }

    mutating func handle(_ event: PushClient.Event) {
        for action in client.handle(event, now: now) {
            switch action {
            case .ask(let id, let question): schedule(.answer(id, question), at: now + delay)
            case .cancel(let id): cancel(id)
            case .connect(let id, _, let transport):
                transports.insert(transport)
                connections.append(now)
                schedule(server.acceptsConnections ? .opened(id) : .closed(id), at: now + delay)
            case .send(let id, let bytes): schedule(.toServer(id, bytes), at: now + delay)
            case .close(let id):
                deliveries.removeAll { delivery in
                    switch delivery.delivery {
                    case .opened(id), .toServer(id, _), .toClient(id, _), .closed(id): true
                    default: false
                    }
                }
                if open == id {
                    open = nil
                    subscriptions = [:]
                }
            case .updated(let question, let records):
                for index in browsers.indices { handle(.pushed(question, records), by: index) }
            case .ended(let question):
                for index in browsers.indices { handle(.pushEnded(question), by: index) }
            case .failed(let failure, _): failures.append(failure)
            }
        }
    }

    mutating func handle(_ event: DomainBrowser.Event, by index: Int) {
        for action in browsers[index].handle(event, now: now) {
            switch action {
            case .ask(let id, let question): schedule(.answer(id, question), at: now + delay)
            case .cancel(let id): cancel(id)
            case .follow(let question): handle(.follow(question))
            case .unfollow(let question): handle(.unfollow(question))
            case .found(let service):
                services[index][service.name] = service
                reports.append(action)
            case .lost(let name):
                precondition(services[index].removeValue(forKey: name) != nil, "a lost service was found")
                reports.append(action)
            case .failed: preconditionFailure("the name server always answers")
            }
        }
    }

    private mutating func schedule(_ delivery: Delivery, at: Instant) {
        let index = deliveries.firstIndex { $0.at > at } ?? deliveries.endIndex
        deliveries.insert((at, delivery), at: index)
    }

    private mutating func cancel(_ id: QueryID) {
        deliveries.removeAll { if case .answer(id, _) = $0.delivery { true } else { false } }
    }

    private mutating func perform(_ delivery: Delivery) {
        switch delivery {
        case .answer(let id, let question):
            let answer = Result<ResolvedRecords, ResolverError>.success(answer(question))
            if id.rawValue >> 32 == 0 {
                handle(.answered(id, answer))
            } else {
                handle(.answered(id, answer), by: Int(id.rawValue >> 32) - 1)
            }
        case .opened(let id):
            open = id
            subscriptions = [:]
            lastSent = now
            handle(.connected(id))
        // No server of long-lived queries answers.
        case .toServer(let id, let bytes): if open == id, transports == [.tls] { serve(bytes) }
        case .toClient(let id, let bytes): handle(.received(id, bytes))
        case .closed(let id): handle(.disconnected(id))
        }
    }

    /// The answer of a resolver with a cache.
    private mutating func answer(_ question: Question) -> ResolvedRecords {
        if let known = cache[question], known.expires > now { return known }
        asked.append((now, question))
        let host: Name = "push.example.org"
        var records = zone
        if server.isOffered {
            records.append(
                Record(
                    name: "_dns-push-tls._tcp.example.org", timeToLive: 3600,
                    data: .srv(priority: 0, weight: 0, port: 853, target: host)))
            records.append(Record(name: host, timeToLive: 3600, data: .a(IPv4Address(192, 0, 2, 53))))
        }
        if server.offersQueries {
            records.append(
                Record(
                    name: "_dns-llq._udp.example.org", timeToLive: 3600,
                    data: .srv(priority: 0, weight: 0, port: 5352, target: "llq.example.org")))
            records.append(Record(name: "llq.example.org", timeToLive: 3600, data: .a(IPv4Address(192, 0, 2, 54))))
        }
        let found = records.filter { question.isAnswered(by: $0) }
        let lifetime = found.map(\.timeToLive).min() ?? 5
        let answer = ResolvedRecords(
            records: found, nameExists: true, expires: now + .seconds(Int64(lifetime)),
            zone: found.isEmpty ? Self.zoneName : nil)
        cache[question] = answer
        return answer
    }

    private mutating func serve(_ bytes: [UInt8]) {
        guard let message = try? StatefulMessage(decoding: bytes) else { preconditionFailure("a malformed message") }
        received.append((now, message))
        guard !server.isSilent, !message.isResponse else { return }
        switch message.items.first {
        case .keepalive:
            let items =
                server.sessionCode == 0
                ? [StatefulItem.keepalive(inactivity: 15_000, interval: server.interval)] : server.items
            send(StatefulMessage(id: message.id, isResponse: true, code: server.sessionCode, items: items))
        case .subscribe(let question):
            precondition(subscriptions[question] == nil, "a question is subscribed to once")
            let code = server.subscriptionCode(question)
            send(StatefulMessage(id: message.id, isResponse: true, code: code, items: code == 0 ? [] : server.items))
            guard code == 0 else { break }
            subscriptions[question] = message.id
            push(zone.filter { question.isAnswered(by: $0) }.map(RecordChange.add))
        case .unsubscribe(let id):
            precondition(message.id == 0, "an end of a subscription has no response")
            subscriptions = subscriptions.filter { $0.value != id }
        default: preconditionFailure("an unexpected message: \(message)")
        }
    }
}

extension RecordChange {
    /// True if a subscriber to the question receives the change.
    fileprivate func concerns(_ question: Question) -> Bool {
        switch self {
        case .add(let record), .remove(let record):
            question.isAnswered(by: record) || record.type == .cname && record.name == question.name
        case .removeAll(let removed): removed.name == question.name
        }
    }
}
