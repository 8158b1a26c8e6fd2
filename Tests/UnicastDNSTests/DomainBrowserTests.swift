import DNSWire
import ProtocolCore
import ServiceDiscovery
import Testing

@testable import UnicastDNS

/// A browser and a zone in virtual time. An answer arrives after 10 ms.
private struct VirtualZone {
    private(set) var now = Instant.zero
    private(set) var services: [Name: DomainService] = [:]
    private(set) var asked: [Question] = []
    private(set) var failures: [ResolverError] = []
    /// The questions whose changes the browser follows.
    private(set) var followed: Set<Question> = []
    /// The number of reports about services.
    private(set) var reportCount = 0
    /// The largest number of questions that waited for answers at the same time.
    private(set) var mostWaiting = 0
    var records: [Record] = []
    var failure: ResolverError?
    /// The type of the questions that fail.
    var failing: RecordType?
    private var browser: DomainBrowser
    private var waiting: [(at: Instant, id: QueryID, question: Question)] = []

    init(records: [Record], service: Name? = nil) throws {
        self.records = records
        let first = QueryID(rawValue: 7)
        browser =
            try service.map { DomainBrowser(service: $0, firstQuery: first) }
            ?? DomainBrowser("_smartplug._tcp", in: "example.org", firstQuery: first)
        handle(.refresh)
    }

    mutating func handle(_ event: DomainBrowser.Event) {
        for action in browser.handle(event, now: now) {
            switch action {
            case .ask(let id, let question):
                asked.append(question)
                waiting.append((now + .milliseconds(10), id, question))
                mostWaiting = max(mostWaiting, waiting.count)
            case .cancel(let id): waiting.removeAll { $0.id == id }
            case .follow(let question): precondition(followed.insert(question).inserted, "a question is followed once")
            case .unfollow(let question): precondition(followed.remove(question) != nil, "a followed question is left")
            case .found(let service):
                reportCount += 1
                services[service.name] = service
            case .lost(let name): precondition(services.removeValue(forKey: name) != nil, "a lost service was found")
            case .failed(let error): failures.append(error)
            }
        }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = sooner(waiting.map(\.at).min(), browser.nextDeadline), next <= end {
            now = max(now, next)
            guard let index = waiting.firstIndex(where: { $0.at <= now }) else {
                handle(.deadlineReached)
                continue
            }
            let (_, id, question) = waiting.remove(at: index)
            let failure = question.type == failing ? .timeout : failure
            handle(.answered(id, failure.map { .failure($0) } ?? .success(answer(question))))
        }
        now = end
    }

    private func answer(_ question: Question) -> ResolvedRecords {
        let found = records.filter { question.isAnswered(by: $0) }
        let lifetime = found.map(\.timeToLive).min() ?? 30
        return ResolvedRecords(records: found, nameExists: true, expires: now + .seconds(Int64(lifetime)))
    }
}

@Suite struct DomainBrowserTests {
    private static let type: Name = "_smartplug._tcp.example.org"
    private static let lamp: Name = "Lamp._smartplug._tcp.example.org"
    private static let host: Name = "plug.example.org"
    private static let address = IPAddress.v4(192, 0, 2, 7)

    private static func service(_ name: Name, timeToLive: UInt32 = 60, port: UInt16 = 7777) -> [Record] {
        [
            Record(name: type, timeToLive: timeToLive, data: .ptr(name)),
            Record(name: name, timeToLive: timeToLive, data: .srv(priority: 0, weight: 0, port: port, target: host)),
            Record(name: name, timeToLive: timeToLive, data: .txt([4, 0x69, 0x64, 0x3D, 0x31])),
            Record(name: host, timeToLive: timeToLive, data: RecordData(address)),
        ]
    }

    @Test("A service is found with its host, port, attributes and addresses") func serviceIsFound() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.run(for: .seconds(1))
        let lamp = try #require(zone.services[Self.lamp])
        #expect(lamp.host == Self.host && lamp.port == 7777 && lamp.txt["id"] == "1")
        #expect(lamp.addresses == [Self.address])
        #expect(zone.asked.count == 5)
    }

    @Test("Each record set is asked for again when it expires, but not more often than every 10 seconds")
    func polling() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp, timeToLive: 1))
        zone.run(for: .seconds(100))
        let pointers = zone.asked.filter { $0.type == .ptr }.count
        #expect((9...10).contains(pointers))
    }

    @Test("Changes and the end of a service are reported after the next question") func changes() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.run(for: .seconds(1))
        zone.records = Self.service(Self.lamp, port: 8888)
        zone.run(for: .seconds(61))
        #expect(zone.services[Self.lamp]?.port == 8888)
        zone.records = []
        zone.run(for: .seconds(61))
        #expect(zone.services.isEmpty)
        // Only the pointer is still asked for.
        let count = zone.asked.count
        zone.run(for: .seconds(31))
        #expect(zone.asked[count...].allSatisfy { $0.type == .ptr } && zone.asked.count > count)
    }

    @Test("A service is reported with its attributes, or without them if the question about them fails")
    func attributesFirst() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        var reports: [Int] = []
        while zone.now < .zero + .seconds(1) {
            zone.run(for: .milliseconds(1))
            if let lamp = zone.services[Self.lamp] { reports.append(lamp.txt.attributes.count) }
        }
        #expect(!reports.isEmpty && reports.allSatisfy { $0 == 1 })
        var silent = try VirtualZone(records: Self.service(Self.lamp))
        silent.failing = .txt
        silent.run(for: .seconds(1))
        #expect(silent.services[Self.lamp]?.txt == TXTRecord())
    }

    @Test("Services of other domains are left out") func otherDomains() throws {
        let foreign: Name = "Lamp._smartplug._tcp.example.net"
        let zone = Self.service(Self.lamp) + [Record(name: Self.type, timeToLive: 60, data: .ptr(foreign))]
        var browser = try VirtualZone(records: zone)
        browser.run(for: .seconds(1))
        #expect(Set(browser.services.keys) == [Self.lamp])
        #expect(!browser.asked.contains { $0.name == foreign })
    }

    @Test("One service is followed without the list of its domain") func singleService() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp), service: Self.lamp)
        zone.run(for: .seconds(1))
        #expect(zone.services[Self.lamp]?.addresses == [Self.address])
        #expect(!zone.asked.contains { $0.type == .ptr })
        let moved: Name = "new.example.org"
        zone.records[1].data = .srv(priority: 0, weight: 0, port: 1, target: moved)
        zone.records.append(Record(name: moved, timeToLive: 60, data: .a(IPv4Address(192, 0, 2, 8))))
        zone.run(for: .seconds(61))
        #expect(zone.services[Self.lamp]?.addresses == [.v4(192, 0, 2, 8)])
        zone.records = []
        zone.run(for: .seconds(61))
        #expect(zone.services.isEmpty && zone.failures.isEmpty)
    }

    @Test("A service whose host is the root is not available") func rootAsHost() throws {
        var records = Self.service(Self.lamp)
        records[1].data = .srv(priority: 0, weight: 0, port: 0, target: .root)
        var zone = try VirtualZone(records: records)
        zone.run(for: .seconds(1))
        #expect(zone.services.isEmpty)
    }

    @Test("During a failure the known services remain, and the questions become rarer") func failures() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.run(for: .seconds(1))
        zone.failure = .timeout
        zone.run(for: .seconds(3600))
        #expect(zone.services[Self.lamp] != nil && zone.failures.first == .timeout)
        #expect((16...22).contains(zone.failures.count))
        zone.failure = nil
        zone.handle(.refresh)
        zone.run(for: .seconds(1))
        let count = zone.failures.count
        zone.run(for: .seconds(600))
        #expect(zone.failures.count == count && zone.services.count == 1)
    }

    @Test("The numbers of services and of waiting questions are limited") func limits() throws {
        let records = try (0..<DomainBrowser.serviceLimit + 500).flatMap { number in
            Self.service(try Name(presentation: "Lamp \(number)._smartplug._tcp.example.org"), timeToLive: 3600)
        }
        var zone = try VirtualZone(records: records)
        zone.run(for: .seconds(60))
        #expect(zone.services.count == DomainBrowser.serviceLimit)
        #expect(zone.mostWaiting == PolledQuestions.limit)
    }

    @Test("After a stop nothing is asked or followed") func stop() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.handle(.stop)
        zone.run(for: .seconds(600))
        #expect(zone.asked.count == 1 && zone.services.isEmpty && zone.followed.isEmpty)
    }

    private static let list = Question(name: type, type: .ptr)

    @Test("A browser follows the questions that it asks") func followed() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.run(for: .seconds(1))
        #expect(zone.followed == Set(zone.asked) && zone.followed.count == 5)
        zone.handle(.pushed(Self.list, []))
        #expect(zone.followed == [Self.list] && zone.services.isEmpty)
    }

    @Test("Pushed records are reported at once, and their questions are not asked again") func pushedRecords() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.run(for: .seconds(1))
        for question in zone.followed {
            zone.handle(.pushed(question, zone.records.filter { question.isAnswered(by: $0) }))
        }
        zone.run(for: .seconds(10_000))
        #expect(zone.asked.count == 5 && zone.reportCount == 2)
        let moved = Self.service(Self.lamp, port: 8888)[1]
        zone.handle(.pushed(Question(name: Self.lamp, type: .srv), [moved]))
        #expect(zone.services[Self.lamp]?.port == 8888)
        // The list is not asked either when the network changes: the owner ends the updates first.
        zone.handle(.refresh)
        zone.run(for: .seconds(10))
        #expect(zone.asked.count == 5)
    }

    @Test("A question is asked again when its pushed records expire, and not before an earlier answer does")
    func endOfUpdates() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp, timeToLive: 600))
        zone.run(for: .seconds(1))
        zone.handle(.pushed(Self.list, []))
        zone.handle(.pushEnded(Self.list))
        zone.run(for: .seconds(590))
        #expect(zone.asked.count == 5 && zone.services.isEmpty)
        zone.run(for: .seconds(10))
        #expect(zone.asked.count > 5 && zone.services.count == 1)
        zone.handle(.pushed(Self.list, Self.service(Self.lamp, timeToLive: 1200).filter { $0.type == .ptr }))
        zone.handle(.pushEnded(Self.list))
        let count = zone.asked.filter { $0 == Self.list }.count
        zone.run(for: .seconds(1190))
        #expect(zone.asked.filter { $0 == Self.list }.count == count)
        zone.run(for: .seconds(20))
        #expect(zone.asked.filter { $0 == Self.list }.count == count + 1)
    }

    @Test("Pushed records in a different order are not reported") func pushedOrder() throws {
        var records = Self.service(Self.lamp)
        records.append(Record(name: Self.host, timeToLive: 60, data: .a(IPv4Address(192, 0, 2, 8))))
        var zone = try VirtualZone(records: records)
        zone.run(for: .seconds(1))
        let count = zone.reportCount
        let addresses = records.filter { $0.type == .a }
        zone.handle(.pushed(Question(name: Self.host, type: .a), addresses.reversed()))
        #expect(zone.reportCount == count && zone.services[Self.lamp]?.addresses.first == Self.address)
    }

    @Test("A pushed answer replaces a question that is being asked") func pushedWhileAsking() throws {
        var zone = try VirtualZone(records: Self.service(Self.lamp))
        zone.handle(.pushed(Self.list, []))
        zone.run(for: .seconds(600))
        #expect(zone.asked.count == 1 && zone.services.isEmpty)
    }
}
