import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import UnicastDNS

extension FuzzTarget {
    /// Sends the messages of a push server to a client and a browser. Each datagram, with a two-byte length in front, is
    /// one message; a datagram of one byte lets that many tenths of a second pass. The client sends only valid messages,
    /// uses one connection at a time, and reports consistent changes. The input is valid if a service is found.
    static let pushServer = FuzzTarget(
        name: "push-server",
        seeds: { [PushServerLink.records, PushServerLink.changes] },
        check: { bytes in
            var link = try PushServerLink()
            for datagram in datagrams(in: bytes).prefix(64) { try link.receive(datagram) }
            try link.end()
            return link.hasFound
        })

    /// Sends the messages of a server of long-lived queries to the same client. The identifiers of responses are replaced by
    /// those of the requests. The input is valid if the records of a question are reported.
    static let queryServer = FuzzTarget(
        name: "query-server",
        seeds: { [PushServerLink.queryRecords, PushServerLink.queryChanges] },
        check: { bytes in
            var link = try PushServerLink(offering: "_dns-llq._udp.example.org", by: .datagram)
            for datagram in datagrams(in: bytes).prefix(64) { try link.receive(datagram) }
            try link.end()
            return link.hasUpdated
        })
}

/// A push client, a browser and their resolver, in virtual time. The name server names the push server, and has no other
/// records.
private struct PushServerLink {
    private static let type: Name = "_smartplug._tcp.example.org"
    private static let lamp: Name = "Lamp._smartplug._tcp.example.org"
    private static let host: Name = "plug.example.org"

    /// The records of one service, with the responses to the requests before them.
    static let records: [UInt8] = framed(
        session(of: [
            [.add(record(type, .ptr(lamp)))],
            [.add(record(lamp, .txt([4, 0x69, 0x64, 0x3D, 0x31])))],
            [.add(record(lamp, .srv(priority: 0, weight: 0, port: 7777, target: host)))],
            [.add(record(host, .a(IPv4Address(192, 0, 2, 7))))],
        ]))

    /// A service that is found, changes and disappears, and a pause that the server requests.
    static let changes: [UInt8] = framed(
        session(of: [
            [
                .add(record(type, .ptr(lamp))),
                .add(record(lamp, .srv(priority: 0, weight: 0, port: 7777, target: host))),
            ],
            [.add(record(lamp, .srv(priority: 0, weight: 0, port: 7777, target: host)))],
            [.removeAll(Question(name: lamp, type: .any, recordClass: .any))],
            [.remove(record(type, .ptr(lamp)))],
        ]) + [encoded(StatefulMessage(items: [.retryDelay(1000)]))])

    /// The challenge and the first records of the list.
    static let queryRecords: [UInt8] = framed([
        query(operation: 1), query(operation: 1, answers: [record(type, .ptr(lamp))]), [10],
    ])

    /// A list without records, an event with a new record, and one that removes it.
    static let queryChanges: [UInt8] = framed([
        query(operation: 1), query(operation: 1), query(operation: 3, answers: [record(type, .ptr(lamp))]), [10],
        query(
            operation: 3, answers: [Record(name: type, timeToLive: .max, data: .ptr(lamp))]),
    ])

    /// A message about the query with the number 1, whose question is the list.
    private static func query(operation: UInt8, answers: [Record] = []) -> [UInt8] {
        let option: [UInt8] = [0, 1, 0, operation, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0x84]
        let message = Message(
            id: 1, flags: .response, questions: [Question(name: type, type: .ptr)], answers: answers,
            additionals: [OptionsRecord(options: [.other(code: 1, option)]).record])
        return (try? message.encoded()) ?? []
    }

    private static func record(_ name: Name, _ data: RecordData) -> Record {
        Record(name: name, timeToLive: 60, data: data)
    }

    private static func encoded(_ message: StatefulMessage) -> [UInt8] { (try? message.encoded()) ?? [] }

    /// The response to the request for timeouts, and changes, each after responses to the open requests. A second passes
    /// after each one.
    private static func session(of changes: [[RecordChange]]) -> [[UInt8]] {
        let start = StatefulMessage(id: 1, isResponse: true, items: [.keepalive(inactivity: 15_000, interval: 60_000)])
        return [encoded(start)]
            + changes.flatMap { changes in
                let response = StatefulMessage(id: 2, isResponse: true)
                return [encoded(response), encoded(StatefulMessage(items: [.push(changes)])), [10]]
            }
    }

    private(set) var hasFound = false
    private(set) var hasUpdated = false
    private let offered: Name
    private let transport: PushClient.Transport
    private var now = Instant.zero
    private var client = PushClient(firstQuery: QueryID(rawValue: 0), random: SeededRandom(seed: 1))
    private var browser: DomainBrowser
    private var resolver = StubResolver(random: SeededRandom(seed: 1))
    private var connection: ExchangeID?
    /// The identifiers of the requests that wait for responses.
    private var requests: [[UInt8]] = []
    private var services: Set<Name> = []

    init(
        offering offered: Name = "_dns-push-tls._tcp.example.org", by transport: PushClient.Transport = .tls
    ) throws {
        self.offered = offered
        self.transport = transport
        browser = try DomainBrowser("_smartplug._tcp", in: "example.org", firstQuery: QueryID(rawValue: 1 << 32))
        let server = Peer(address: .v4(192, 0, 2, 53), port: ResolverConfiguration.port)
        try perform(resolver.handle(.configured(ResolverConfiguration(servers: [server])), now: now))
        try perform(browser.handle(.refresh, now: now))
        try pass(.seconds(3))
    }

    /// The answer of the name server.
    private func answer(to query: Message) -> [UInt8] {
        let push: Name = "push.example.org"
        let records = [
            Self.record(offered, .srv(priority: 0, weight: 0, port: 853, target: push)),
            Self.record(push, .a(IPv4Address(192, 0, 2, 53))),
        ]
        let zone = Self.record("example.org", .other(.soa, [UInt8](repeating: 0, count: 22)))
        let response = Message(
            id: query.id, flags: .response, questions: query.questions,
            answers: records.filter { record in query.questions.contains { $0.isAnswered(by: record) } },
            authorities: [zone])
        return (try? response.encoded()) ?? []
    }

    /// Passes a message to the client. A response to a subscription answers all open ones.
    mutating func receive(_ datagram: [UInt8]) throws {
        guard datagram.count > 1 else { return try pass(.milliseconds(100 * Int64(datagram.first ?? 0))) }
        let isResponse = datagram.count > 2 && datagram[2] & 0x80 != 0
        let own = Array(datagram.prefix(2))
        let identifiers: [[UInt8]]
        switch transport {
        case .tls:
            identifiers = isResponse ? requests : [own]
            if isResponse { requests = [] }
        case .datagram: identifiers = requests.suffix(8) + [own]
        }
        for id in identifiers {
            guard let connection else { break }
            try perform(client.handle(.received(connection, id + datagram.dropFirst(2)), now: now))
        }
    }

    /// Lets the time pass.
    private mutating func pass(_ duration: Duration) throws {
        let end = now + duration
        var steps = 0
        while let next = sooner(client.nextDeadline, browser.nextDeadline), next <= end {
            now = max(now, next)
            try perform(client.handle(.deadlineReached, now: now))
            try perform(browser.handle(.deadlineReached, now: now))
            steps += 1
            try require(steps < 10_000, "the machines need no time")
        }
        now = end
    }

    mutating func end() throws {
        try pass(.seconds(60))
        try perform(browser.handle(.stop, now: now))
        try require(connection == nil && client.nextDeadline == nil, "the connection remains open")
    }

    private mutating func perform(_ actions: [PushClient.Action]) throws {
        for action in actions {
            switch action {
            case .ask(let id, let question): try perform(resolver.handle(.ask(id, question), now: now))
            case .cancel(let id): try perform(resolver.handle(.cancel(id), now: now))
            case .connect(let id, _, let transport):
                try require(transport == self.transport, "the connection uses a different protocol")
                try require(connection == nil, "two connections are open")
                connection = id
                requests = []
                try perform(client.handle(.connected(id), now: now))
            case .send(let id, let bytes):
                try require(id == connection, "a message is sent over a closed connection")
                switch transport {
                case .tls:
                    let message = try? StatefulMessage(decoding: bytes)
                    try require(message != nil, "an invalid message was sent")
                    if message?.id != 0, message?.isResponse == false { requests.append(Array(bytes.prefix(2))) }
                case .datagram:
                    let message = try? Message(decoding: bytes)
                    try require(message?.questions.count == 1, "an invalid message was sent")
                    if message?.flags.contains(.response) == false { requests.append(Array(bytes.prefix(2))) }
                }
            case .close(let id):
                try require(id == connection, "an unknown connection is closed")
                connection = nil
            case .updated(let question, let records):
                try require(records.allSatisfy(question.isAnswered), "a record does not answer its question")
                hasUpdated = true
                try perform(browser.handle(.pushed(question, records), now: now))
            case .ended(let question): try perform(browser.handle(.pushEnded(question), now: now))
            case .failed(_, let pause): try require(pause >= .seconds(10), "the next attempt follows after \(pause)")
            }
        }
    }

    private mutating func perform(_ actions: [StubResolver.Action]) throws {
        for action in actions {
            switch action {
            case .send(let id, let bytes, _, _):
                let answer = answer(to: try Message(decoding: bytes))
                try perform(resolver.handle(.received(id, answer), now: now))
            case .close: break
            case .answer(let id, let result) where id.rawValue >> 32 == 0:
                try perform(client.handle(.answered(id, result), now: now))
            case .answer(let id, let result): try perform(browser.handle(.answered(id, result), now: now))
            }
        }
    }

    private mutating func perform(_ actions: [DomainBrowser.Action]) throws {
        for action in actions {
            switch action {
            case .ask(let id, let question): try perform(resolver.handle(.ask(id, question), now: now))
            case .cancel(let id): try perform(resolver.handle(.cancel(id), now: now))
            case .follow(let question): try perform(client.handle(.follow(question), now: now))
            case .unfollow(let question): try perform(client.handle(.unfollow(question), now: now))
            case .found(let service):
                services.insert(service.name)
                hasFound = true
            case .lost(let name): try require(services.remove(name) != nil, "an unknown service is lost")
            case .failed: break
            }
        }
    }
}
