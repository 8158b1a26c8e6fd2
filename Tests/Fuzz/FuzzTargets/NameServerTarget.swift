import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import UnicastDNS

extension FuzzTarget {
    /// Sends the messages of a name server to a resolver and a browser. Each datagram, with a two-byte length in front,
    /// answers all open queries with their identifiers. The browser asks only valid questions, causes no storm, and
    /// reports consistent changes. The input is valid if a service is found.
    static let nameServer = FuzzTarget(
        name: "name-server",
        seeds: { [NameServerLink.answers] },
        check: { bytes in
            var link = try NameServerLink()
            for datagram in datagrams(in: bytes).prefix(16) { try link.answerAll(with: datagram) }
            try link.end()
            return link.hasFound
        })
}

/// A resolver and a browser that ask one server in virtual time.
private struct NameServerLink {
    private static let type: Name = "_smartplug._tcp.example.org"
    private static let lamp: Name = "Lamp._smartplug._tcp.example.org"
    private static let host: Name = "plug.example.org"

    /// The answers to all questions about one service, in the order in which they are asked.
    static let answers: [UInt8] = {
        let data: [(Name, RecordData)] = [
            (type, .ptr(lamp)), (lamp, .txt([4, 0x69, 0x64, 0x3D, 0x31])),
            (lamp, .srv(priority: 0, weight: 0, port: 7777, target: host)), (host, .a(IPv4Address(192, 0, 2, 7))),
        ]
        return framed(
            data.compactMap { name, data in
                let record = Record(name: name, timeToLive: 60, data: data)
                let question = Question(name: name, type: record.type)
                return try? Message(flags: .response, questions: [question], answers: [record]).encoded()
            })
    }()

    private(set) var hasFound = false
    private var now = Instant.zero
    private var resolver = StubResolver(random: SeededRandom(seed: 1))
    private var browser: DomainBrowser
    private var open: [ExchangeID: [UInt8]] = [:]
    private var services: Set<Name> = []
    private var queryCount = 0

    init() throws {
        browser = try DomainBrowser("_smartplug._tcp", in: "example.org", firstQuery: QueryID(rawValue: 1))
        let server = Peer(address: .v4(192, 0, 2, 53), port: ResolverConfiguration.port)
        try perform(resolver.handle(.configured(ResolverConfiguration(servers: [server])), now: now))
        try perform(browser.handle(.refresh, now: now))
    }

    mutating func answerAll(with datagram: [UInt8]) throws {
        for (id, query) in open.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            try perform(resolver.handle(.received(id, Array(query.prefix(2)) + datagram.dropFirst(2)), now: now))
        }
        now = now + Duration.milliseconds(500)
        try perform(resolver.handle(.deadlineReached, now: now))
        try perform(browser.handle(.deadlineReached, now: now))
        // Each of the 16 datagrams may list as many services as fit, and the questions about them are limited.
        try require(queryCount < 5000, "\(queryCount) queries were sent")
    }

    mutating func end() throws {
        try perform(browser.handle(.stop, now: now))
        try require(open.isEmpty, "\(open.count) sockets remain open")
    }

    private mutating func perform(_ actions: [StubResolver.Action]) throws {
        for action in actions {
            switch action {
            case .send(let id, let bytes, _, _):
                try require((try? Message(decoding: bytes)) != nil, "an invalid query was sent")
                try require(open.updateValue(bytes, forKey: id) == nil, "an exchange has two queries")
                queryCount += 1
            case .close(let id): try require(open.removeValue(forKey: id) != nil, "an unknown socket is closed")
            case .answer(let id, let result): try perform(browser.handle(.answered(id, result), now: now))
            }
        }
    }

    private mutating func perform(_ actions: [DomainBrowser.Action]) throws {
        for action in actions {
            switch action {
            case .ask(let id, let question): try perform(resolver.handle(.ask(id, question), now: now))
            case .cancel(let id): try perform(resolver.handle(.cancel(id), now: now))
            case .follow, .unfollow: break
            case .found(let service):
                services.insert(service.name)
                hasFound = true
            case .lost(let name): try require(services.remove(name) != nil, "an unknown service is lost")
            case .failed: break
            }
        }
    }
}
