import DNSWire
import ProtocolCore
import ServiceDiscovery
import Testing

@testable import UnicastDNS

/// A zone of a server that carries out updates as RFC 2136 §3 requires.
private struct VirtualZone {
    private(set) var records: Set<Record> = []
    /// The messages that the server received.
    private(set) var messages: [Message] = []

    func names(_ name: Name, _ type: RecordType) -> [Record] { records.filter { $0.name == name && $0.type == type } }

    mutating func add(_ name: Name, _ data: RecordData) {
        records.insert(Record(name: name, timeToLive: 120, data: data))
    }

    mutating func removeAll() { records = [] }

    mutating func answer(_ message: Message) -> Message {
        messages.append(message)
        guard message.flags == .update else {
            let question = message.questions[0]
            let exists = records.contains { $0.name == question.name }
            return message.response(names(question.name, question.type), code: exists ? 0 : 3)
        }
        precondition(message.questions == [Question(name: "example.org", type: .soa)])
        for condition in message.answers {
            if condition.recordClass.rawValue == 254 {
                if records.contains(where: { $0.name == condition.name }) { return message.response(code: 6) }
            } else if names(condition.name, condition.type).map(\.data) != [condition.data] {
                return message.response(code: 8)
            }
        }
        for change in message.authorities {
            switch change.recordClass {
            case .any: records = records.filter { $0.name != change.name }
            case .internet: records.insert(change)
            default: records = records.filter { $0.name != change.name || $0.data != change.data }
            }
        }
        return message.response()
    }
}

/// Plugs and the server of their zone in virtual time.
private struct VirtualHouse {
    enum Fate { case arrives, requestIsLost, answerIsLost, isRejected(UInt16) }

    struct Host {
        var machine: ZoneRegistrar
        var name: String?
        var confirmations = 0
        var failures: [ZoneFailure] = []
        var isStopped = false
        var open: Set<ExchangeID> = []
    }

    private(set) var now = Instant.zero
    private(set) var hosts: [Host] = []
    var zone = VirtualZone()
    /// Decides about each message.
    var fate: () -> Fate = { .arrives }
    private var deliveries: [(at: Instant, host: Int, event: ZoneRegistrar.Event)] = []
    private var random: SeededRandom

    init(hosts count: Int, seed: UInt64 = 1) {
        random = SeededRandom(seed: seed)
        for _ in 0..<count { addHost() }
    }

    mutating func addHost() {
        hosts.append(Host(machine: ZoneRegistrar(zone: "example.org", random: random.split())))
    }

    mutating func handle(_ event: ZoneRegistrar.Event, by index: Int) {
        for action in hosts[index].machine.handle(event, now: now) {
            switch action {
            case .send(let id, let bytes):
                precondition(hosts[index].open.insert(id).inserted, "an exchange has one message")
                deliver(bytes, id, from: index)
            case .close(let id): precondition(hosts[index].open.remove(id) != nil, "a connection is closed once")
            case .registered(let name):
                hosts[index].name = name
                hosts[index].confirmations += 1
            case .failed(let failure, _): hosts[index].failures.append(failure)
            case .stopped:
                precondition(!hosts[index].isStopped, "a host stops once")
                hosts[index].isStopped = true
            }
        }
    }

    private mutating func deliver(_ bytes: [UInt8], _ id: ExchangeID, from index: Int) {
        guard let message = try? Message(decoding: bytes) else { preconditionFailure("a malformed message") }
        let delay = random.duration(in: .milliseconds(1)...(.milliseconds(30)))
        switch fate() {
        case .arrives: deliveries.append((now + delay, index, .replied(id, zone.answer(message))))
        case .requestIsLost: break
        case .answerIsLost: _ = zone.answer(message)
        case .isRejected(let code): deliveries.append((now + delay, index, .replied(id, message.response(code: code))))
        }
    }

    /// Lets the time pass.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while true {
            let deadlines = hosts.indices.compactMap { index in
                hosts[index].machine.nextDeadline.map { (at: $0, index) }
            }
            let (arrival, deadline) = (deliveries.map(\.at).min(), deadlines.min { $0.at < $1.at })
            guard let next = sooner(arrival, deadline?.at), next <= end else { break }
            now = max(now, next)
            if let first = deliveries.firstIndex(where: { $0.at <= now }) {
                let delivery = deliveries.remove(at: first)
                handle(delivery.event, by: delivery.host)
            } else if let deadline {
                handle(.deadlineReached, by: deadline.1)
            }
        }
        now = end
    }
}

private func lamp(
    _ host: Int = 0, name: String = "Lamp", port: UInt16 = 4711, addresses: [IPAddress] = [.v4(192, 0, 2, 7)]
) throws -> ZoneService {
    try ZoneService(
        ServiceRegistration(
            name: name, type: "_smartplug._tcp", subtypes: ["_dimmer"], hostName: "plug-\(host)", port: port,
            txt: TXTRecord(["id": "\(host)"])), addresses: addresses)
}

private let lampName: Name = "Lamp._smartplug._tcp.example.org"

/// Tests with a registrar of RFC 9665, which compares the keys of hosts.
struct ClaimTests {
    /// A registrar that keeps the owner of each name.
    private struct Registrar {
        private(set) var owners: [Name: [UInt8]] = [:]
        private(set) var records: [Record] = []
        private(set) var leases: [UpdateLeaseOption] = []

        mutating func answer(_ message: Message) -> Message {
            precondition(message.flags == .update && message.answers.isEmpty, "an update without prerequisites")
            guard let lease = try? message.optionsRecord()?.updateLease,
                case .other(.key, let key)? = message.authorities.last?.data
            else { return message.response(code: 1) }
            leases.append(lease)
            let names = Set(message.authorities.filter { $0.recordClass == .any }.map(\.name))
            if names.contains(where: { owners[$0].map { $0 != key } ?? false }) { return message.response(code: 6) }
            for name in names { owners[name] = key }
            records.removeAll { names.contains($0.name) }
            if lease.lease == 0 {
                let mine = Set(owners.filter { $0.value == key }.keys)
                records.removeAll { record in
                    if case .ptr(let instance) = record.data {
                        mine.contains(instance)
                    } else {
                        mine.contains(record.name)
                    }
                }
            } else {
                let removed = message.authorities.filter { $0.recordClass.rawValue == 254 }.map(\.data)
                records.removeAll { removed.contains($0.data) }
                for record in message.authorities where record.recordClass == .internet && !records.contains(record) {
                    records.append(record)
                }
            }
            return message.response()
        }
    }

    private var registrar = Registrar()

    /// Sends all messages of a machine to the registrar, and returns the other actions.
    private mutating func settle(_ machine: inout ZoneRegistrar, _ event: ZoneRegistrar.Event, now: Instant = .zero)
        throws
        -> [ZoneRegistrar.Action]
    {
        var (actions, others): ([ZoneRegistrar.Action], [ZoneRegistrar.Action]) = (machine.handle(event, now: now), [])
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .send(let id, let bytes):
                let answer = registrar.answer(try Message(decoding: bytes))
                actions += machine.handle(.replied(id, answer), now: now)
            case .close: break
            case let other: others.append(other)
            }
        }
        return others
    }

    private func machine(_ key: UInt8) -> ZoneRegistrar {
        ZoneRegistrar(zone: "example.org", claimKey: [key], random: SeededRandom(seed: UInt64(key)))
    }

    @Test("The first host owns a name, also after its stop, and the next one gets another name")
    mutating func firstCome() throws {
        var (first, second) = (machine(1), machine(2))
        let result1 = try settle(&first, .publish(try lamp(1)))
        #expect(result1 == [.registered(name: "Lamp")])
        let result2 = try settle(&second, .publish(try lamp(2)))
        #expect(result2 == [.registered(name: "Lamp (2)")])
        let changed = try settle(&first, .publish(try lamp(1, port: 5000)))
        #expect(changed == [])
        #expect(registrar.records.filter { $0.type == .srv }.count == 2)
        let result3 = try settle(&first, .stop)
        #expect(result3 == [.stopped])
        #expect(registrar.leases.last == UpdateLeaseOption(lease: 0, keyLease: ZoneRegistrar.keyLease))
        #expect(registrar.records.filter { $0.type == .srv }.count == 1)
        var again = machine(1)
        let result4 = try settle(&again, .publish(try lamp(1)))
        #expect(result4 == [.registered(name: "Lamp")])
        var third = machine(3)
        let result5 = try settle(&third, .publish(try lamp(3)))
        #expect(result5 == [.registered(name: "Lamp (3)")])
    }

    @Test("A new name removes the service with the old one") mutating func rename() throws {
        var host = machine(1)
        _ = try settle(&host, .publish(try lamp(1)))
        let result6 = try settle(&host, .publish(try lamp(1, name: "Fan")))
        #expect(result6 == [.registered(name: "Fan")])
        #expect(registrar.records.filter { $0.type == .srv }.map(\.name) == ["Fan._smartplug._tcp.example.org"])
        #expect(registrar.records.filter { $0.type == .ptr }.count == 2)
    }
}

struct ZoneRegistrarTests {
    @Test("A service has all records of RFC 6763, which one update adds and one removes") func records() throws {
        var house = VirtualHouse(hosts: 1)
        house.handle(.publish(try lamp()), by: 0)
        house.run(for: .seconds(1))
        #expect(house.hosts[0].name == "Lamp" && house.zone.messages.count == 1)
        let expected: [(Name, RecordData)] = [
            ("_smartplug._tcp.example.org", .ptr(lampName)),
            ("_dimmer._sub._smartplug._tcp.example.org", .ptr(lampName)),
            ("_services._dns-sd._udp.example.org", .ptr("_smartplug._tcp.example.org")),
            (lampName, .srv(priority: 0, weight: 0, port: 4711, target: "plug-0.example.org")),
            (lampName, .txt(Array("\u{4}id=0".utf8))), ("plug-0.example.org", .a(IPv4Address(192, 0, 2, 7))),
        ]
        #expect(house.zone.records == Set(expected.map { Record(name: $0, timeToLive: 120, data: $1) }))
        house.handle(.stop, by: 0)
        house.run(for: .seconds(1))
        // The list of types is shared with other services.
        #expect(house.hosts[0].isStopped && house.zone.records.map(\.name) == ["_services._dns-sd._udp.example.org"])
        #expect(house.zone.messages.count == 2 && house.hosts[0].machine.nextDeadline == nil)
    }

    @Test("A change of address, port or name replaces the records") func changes() throws {
        var house = VirtualHouse(hosts: 1)
        house.handle(.publish(try lamp(addresses: [])), by: 0)
        house.run(for: .seconds(600))
        #expect(house.zone.messages.isEmpty, "without an address, nothing is sent")
        house.handle(.publish(try lamp()), by: 0)
        house.handle(.publish(try lamp(port: 4712)), by: 0)
        house.run(for: .seconds(1))
        house.handle(.publish(try lamp(port: 4712, addresses: [.v4(192, 0, 2, 8)])), by: 0)
        house.run(for: .seconds(1))
        #expect(house.zone.names("plug-0.example.org", .a).map(\.data) == [.a(IPv4Address(192, 0, 2, 8))])
        #expect(house.zone.names(lampName, .srv).count == 1)
        house.handle(.publish(try lamp(name: "Fan")), by: 0)
        house.run(for: .seconds(1))
        #expect(house.hosts[0].name == "Fan" && house.zone.names(lampName, .srv).isEmpty)
        #expect(
            house.zone.names("_smartplug._tcp.example.org", .ptr).map(\.data) == [
                .ptr("Fan._smartplug._tcp.example.org")
            ])
    }

    @Test("A name of another host is not taken, but the records from before a crash are replaced") func conflicts()
        throws
    {
        var house = VirtualHouse(hosts: 2)
        house.handle(.publish(try lamp(0)), by: 0)
        house.run(for: .seconds(1))
        house.handle(.publish(try lamp(1)), by: 1)
        house.run(for: .seconds(1))
        #expect(house.hosts.map(\.name) == ["Lamp", "Lamp (2)"])
        house.addHost()
        house.handle(.publish(try lamp(0, port: 5000)), by: 2)
        house.run(for: .seconds(1))
        #expect(house.hosts[2].name == "Lamp")
        #expect(
            house.zone.names(lampName, .srv).map(\.data)
                == [.srv(priority: 0, weight: 0, port: 5000, target: "plug-0.example.org")])
        // A name without an SRV record belongs to another program too.
        house.zone.add("Desk._smartplug._tcp.example.org", .txt([0]))
        house.handle(.publish(try lamp(1, name: "Desk")), by: 1)
        house.run(for: .seconds(1))
        #expect(house.hosts[1].name == "Desk (2)")
    }

    @Test("Lost records return with the renewal, at the latest after an hour") func renewal() throws {
        var house = VirtualHouse(hosts: 1)
        house.handle(.publish(try lamp()), by: 0)
        house.run(for: .seconds(1))
        house.zone.removeAll()
        house.run(for: ZoneRegistrar.renewal)
        #expect(house.zone.names(lampName, .srv).count == 1)
        let count = house.zone.messages.count
        house.run(for: .seconds(86_400))
        #expect(house.zone.messages.count - count == 24)
    }

    @Test("A registration that could not be renewed is reported again when it is") func renewalAfterFailure() throws {
        var house = VirtualHouse(hosts: 1)
        house.handle(.publish(try lamp()), by: 0)
        house.run(for: .seconds(1))
        house.fate = { .requestIsLost }
        house.run(for: ZoneRegistrar.renewal + .seconds(10))
        #expect(house.hosts[0].failures == [.noAnswer] && house.hosts[0].confirmations == 1)
        house.fate = { .arrives }
        house.run(for: .seconds(60))
        #expect(house.hosts[0].confirmations == 2)
    }

    @Test("Failures are reported and repeated with growing pauses") func failures() throws {
        var house = VirtualHouse(hosts: 1)
        var count = 0
        house.fate = {
            count += 1
            return .isRejected(5)
        }
        house.handle(.publish(try lamp()), by: 0)
        house.run(for: .seconds(3600))
        #expect(Set(house.hosts[0].failures) == [.rejected(code: 5)] && (8...12).contains(count))
        house.fate = { .requestIsLost }
        house.run(for: .seconds(1000))
        #expect(house.hosts[0].failures.last == .noAnswer)
        house.fate = { .arrives }
        house.handle(.publish(try lamp(port: 1)), by: 0)
        house.run(for: .seconds(1))
        #expect(house.hosts[0].name == "Lamp", "a change is tried at once")
    }

    @Test("A stop ends within four seconds, even if the server never answers") func stops() throws {
        for isRegistered in [false, true] {
            var house = VirtualHouse(hosts: 1)
            if !isRegistered { house.fate = { .requestIsLost } }
            house.handle(.publish(try lamp()), by: 0)
            house.run(for: .seconds(1))
            house.fate = { .requestIsLost }
            house.handle(.stop, by: 0)
            house.handle(.publish(try lamp(port: 1)), by: 0)
            house.run(for: .seconds(4))
            #expect(house.hosts[0].isStopped && house.hosts[0].open.isEmpty)
            #expect(house.hosts[0].machine.nextDeadline == nil)
        }
    }

    @Test("A name that is too long is reported") func longName() throws {
        var machine = ZoneRegistrar(
            zone: try Name(labels: Array(repeating: Array("a".utf8)[...], count: 120)), random: SeededRandom(seed: 1))
        let actions = machine.handle(.publish(try lamp()), now: .zero)
        #expect(actions == [.failed(.nameTooLong, again: .seconds(5))])
    }

    @Test("A loop between the question and the update ends") func loop() throws {
        var house = VirtualHouse(hosts: 1)
        var isUpdate = false
        house.fate = {
            isUpdate.toggle()
            return .isRejected(isUpdate ? 6 : 3)
        }
        house.handle(.publish(try lamp()), by: 0)
        house.run(for: .seconds(4))
        #expect(house.hosts[0].failures == [.unsteady])
    }

    /// Hosts with few different names start, change and stop, while messages are lost. At the end, each running host has
    /// exactly its own records, and no name has two owners.
    @Test("Random hosts share a zone without a conflict", arguments: UInt64(1)...200) func randomHosts(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        var house = VirtualHouse(hosts: 4, seed: random.next())
        var losses = random.split()
        for _ in 0..<30 {
            let index = Int.random(in: 0..<4, using: &random)
            let name = ["Lamp", "Fan", "Lamp (2)"].randomElement(using: &random) ?? ""
            let port = UInt16.random(in: 1...3, using: &random)
            house.fate = {
                losses.chance(0.8) ? .arrives : losses.chance(0.5) ? .requestIsLost : .answerIsLost
            }
            if !house.hosts[index].isStopped {
                house.handle(.publish(try lamp(index, name: name, port: port)), by: index)
            }
            house.run(for: random.duration(in: .zero...(.seconds(20))))
        }
        house.fate = { .arrives }
        house.run(for: .seconds(1800))
        // Records of a name whose removal was not confirmed may remain, but they lead to the host that had the name.
        for (index, host) in house.hosts.enumerated() {
            guard let name = host.name else { continue }
            let instance = try Name(labels: [Array(name.utf8)[...]] + ("_smartplug._tcp.example.org" as Name).labels)
            let locations = house.zone.names(instance, .srv)
            #expect(locations.count == 1)
            for case .srv(_, _, _, let target) in locations.map(\.data) {
                #expect(target == (try Name(presentation: "plug-\(index).example.org")))
            }
        }
        #expect(Set(house.hosts.compactMap(\.name)).count == house.hosts.compactMap(\.name).count)
        for index in house.hosts.indices { house.handle(.stop, by: index) }
        house.run(for: .seconds(10))
        #expect(house.hosts.allSatisfy { $0.isStopped && $0.open.isEmpty })
    }
}
