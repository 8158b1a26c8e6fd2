import DNSWire
import ProtocolCore
import Testing

@testable import UnicastDNS

@Suite struct PushClientTests {
    private static let list = Question(name: VirtualPush.type, type: .ptr)
    private static let lamp = service("Lamp")
    private static let lampName: Name = "Lamp._smartplug._tcp.example.org"

    /// The records of a plug, which live for an hour.
    private static func service(_ label: String, port: UInt16 = 7777, timeToLive: UInt32 = 3600) -> [Record] {
        guard let name = try? VirtualPush.type.prepending(label: Array(label.utf8)),
            let host = try? VirtualPush.zoneName.prepending(label: Array("host-\(label)".utf8))
        else { preconditionFailure("the label is too long") }
        return [
            Record(name: VirtualPush.type, timeToLive: timeToLive, data: .ptr(name)),
            Record(name: name, timeToLive: timeToLive, data: .srv(priority: 0, weight: 0, port: port, target: host)),
            Record(name: name, timeToLive: timeToLive, data: .txt([4, 0x69, 0x64, 0x3D, 0x31])),
            Record(name: host, timeToLive: timeToLive, data: .a(IPv4Address(192, 0, 2, 7))),
        ]
    }

    /// A zone with a lamp, whose questions are all answered by the push server.
    private static func live(browsers: Int = 1) throws -> VirtualPush {
        var world = try VirtualPush(lamp, browsers: browsers)
        world.run(for: .seconds(5))
        return world
    }

    private static func pushes(_ world: VirtualPush) -> Int {
        world.asked.filter { $0.question.name == "_dns-push-tls._tcp.example.org" }.count
    }

    @Test("Changes of a zone are reported at once, without further questions") func changes() throws {
        var world = try Self.live()
        #expect(world.subscriptions.count == 5 && world.services[0].keys.contains(Self.lampName))
        let (questions, reports) = (world.asked.count, world.reports.count)
        world.run(for: .seconds(20_000))
        #expect(world.asked.count == questions && world.reports.count == reports)
        world.add(Self.service("Fan"))
        world.run(for: .milliseconds(300))
        #expect(world.services[0].count == 2)
        world.remove(Self.lamp)
        world.run(for: .milliseconds(300))
        #expect(world.services[0].keys.map(\.description) == ["Fan._smartplug._tcp.example.org"])
        world.run(for: .seconds(5))
        // The questions about the removed plug have ended.
        #expect(world.subscriptions.count == 5)
        world.push([.removeAll(Question(name: VirtualPush.type, type: .any, recordClass: .any))])
        world.run(for: .milliseconds(300))
        #expect(world.services[0].isEmpty)
    }

    @Test("Several browsers share a subscription, and the last one ends the session") func sharing() throws {
        var world = try Self.live(browsers: 3)
        try world.browse()
        world.run(for: .seconds(5))
        let subscribed = world.received.filter { if case .subscribe = $0.message.items.first { true } else { false } }
        #expect(subscribed.count == 5 && world.connections.count == 1)
        #expect(world.services.allSatisfy { $0.count == 1 })
        world.add(Self.service("Fan"))
        world.run(for: .seconds(5))
        #expect(world.services.allSatisfy { $0.count == 2 })
        for index in 0..<4 {
            #expect(world.open != nil)
            world.handle(.stop, by: index)
        }
        #expect(world.open == nil)
        world.run(for: .seconds(20_000))
        #expect(world.connections.count == 1)
    }

    @Test("A search of less than two seconds opens no session") func shortSearch() throws {
        var world = try VirtualPush(Self.lamp)
        world.run(for: .milliseconds(1900))
        world.handle(.stop, by: 0)
        world.run(for: .seconds(5000))
        #expect(Self.pushes(world) == 0 && world.connections.isEmpty)
    }

    @Test("A zone without a push server is asked about it once per hour") func noServer() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.isOffered = false
        world.run(for: .seconds(35_999))
        #expect(Self.pushes(world) == 10 && world.connections.isEmpty)
        #expect(world.failures.allSatisfy { $0 == .notOffered })
        #expect(world.services[0].count == 1)
        world.server.isOffered = true
        world.run(for: .seconds(3605))
        #expect(world.subscriptions.count == 5)
    }

    @Test("A zone without a push server is asked for a server of long-lived queries") func queriesOnly() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.isOffered = false
        world.server.offersQueries = true
        world.run(for: .seconds(30))
        #expect(world.transports == [.datagram] && world.failures.first == .noAnswer)
        #expect(world.services[0].count == 1)
    }

    @Test("A browser that starts again does not shorten the pause") func restartedBrowser() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.isOffered = false
        for _ in 0..<300 {
            world.run(for: .seconds(10))
            world.handle(.stop, by: 0)
            world.handle(.refresh, by: 0)
        }
        #expect(Self.pushes(world) == 1)
    }

    @Test("After a loss of the connection at any moment, no service is lost, and the updates resume")
    func lostConnections() throws {
        for moment in stride(from: 2000, to: 4000, by: 5) {
            var world = try VirtualPush(Self.lamp + Self.service("Fan"))
            world.server.recordsPerMessage = 1
            world.server.pause = .milliseconds(100)
            world.run(for: .milliseconds(moment))
            world.disconnect()
            world.run(for: .seconds(20))
            #expect(world.services[0].count == 2, "\(moment) ms")
            #expect(!world.reports.contains { if case .lost = $0 { true } else { false } }, "\(moment) ms")
            #expect(world.subscriptions.count == 9, "\(moment) ms")
            world.add(Self.service("Heater"))
            world.run(for: .seconds(1))
            #expect(world.services[0].count == 3, "\(moment) ms")
        }
    }

    @Test("A new session reports only the services that changed meanwhile") func resumption() throws {
        var world = try Self.live()
        world.add(Self.service("Fan"))
        world.run(for: .seconds(5))
        let count = world.reports.count
        world.disconnect()
        world.run(for: .milliseconds(100))
        world.remove(Self.service("Fan"))
        world.run(for: .seconds(20))
        #expect(Array(world.reports[count...]) == [.lost("Fan._smartplug._tcp.example.org")])
    }

    @Test("Without a session the records are asked for when they expire, and attempts become rarer")
    func fallback() throws {
        var world = try VirtualPush(Self.service("Lamp", timeToLive: 60))
        world.run(for: .seconds(5))
        world.server.acceptsConnections = false
        world.disconnect()
        world.remove(Self.lamp)
        world.run(for: .seconds(60))
        #expect(world.services[0].count == 1)
        world.run(for: .seconds(10))
        #expect(world.services[0].isEmpty)
        world.run(for: .seconds(86_400))
        let attempts = world.connections.count
        #expect((96...110).contains(attempts), "\(attempts) attempts in a day")
    }

    @Test("A server that closes every session soon is tried more and more rarely") func shortSessions() throws {
        var world = try VirtualPush(Self.lamp)
        for _ in 0..<3600 {
            world.run(for: .seconds(5))
            world.disconnect()
        }
        #expect(world.connections.count < 40, "\(world.connections.count) sessions")
    }

    @Test(
        "A server without push, or whose rejection is final, is tried once per hour",
        arguments: [
            StatefulMessage.notImplemented, StatefulMessage.unknownOperation, 1, 5, 9,
        ])
    func rejections(code: UInt16) throws {
        for isSession in [true, false] {
            var world = try VirtualPush(Self.lamp)
            if isSession { world.server.sessionCode = code } else { world.server.subscriptionCode = { _ in code } }
            world.run(for: .seconds(7199))
            #expect(world.connections.count == 2 && world.failures == [.rejected(code: code), .rejected(code: code)])
            #expect(world.services[0].count == 1)
        }
    }

    @Test("Only the rejected question is polled") func rejectedQuestion() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.subscriptionCode = { $0.type == .txt ? 9 : 0 }
        world.run(for: .seconds(5000))
        #expect(world.subscriptions.count == 4 && world.failures.isEmpty)
        #expect(world.asked.filter { $0.question.type == .txt }.count == 2)
        #expect(world.asked.filter { $0.question.type == .ptr }.count == 1)
    }

    @Test("A requested pause is kept, in a message and in a response, within limits") func requestedPause() throws {
        var world = try Self.live()
        world.send(StatefulMessage(items: [.retryDelay(600_000)]))
        world.run(for: .seconds(599))
        #expect(world.connections.count == 1 && world.failures == [.busy(.seconds(600))])
        world.run(for: .seconds(5))
        #expect(world.connections.count == 2 && world.subscriptions.count == 5)
        world.send(StatefulMessage(items: [.retryDelay(0)]))
        world.run(for: .seconds(9))
        #expect(world.connections.count == 2)
        world.run(for: .seconds(5))
        #expect(world.connections.count == 3)
        world.send(StatefulMessage(items: [.retryDelay(.max)]))
        world.run(for: .seconds(86_500))
        #expect(world.connections.count == 4)
        var busy = try VirtualPush(Self.lamp)
        busy.server.sessionCode = 2
        busy.server.items = [.retryDelay(60_000)]
        busy.run(for: .seconds(100))
        #expect(busy.connections.count == 2 && busy.failures.first == .busy(.seconds(60)))
    }

    @Test("An idle session sends a message per interval of the server, and none if none is required")
    func keepalives() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.interval = 60_000
        world.run(for: .seconds(5))
        let count = world.received.count
        world.run(for: .seconds(3600))
        #expect((59...60).contains(world.received.count - count))
        world.send(StatefulMessage(items: [.keepalive(inactivity: 0, interval: StatefulItem.forever)]))
        world.run(for: .seconds(1))
        let last = world.received.count
        world.run(for: .seconds(36_000))
        #expect(world.received.count == last && world.connections.count == 1)
        world.send(StatefulMessage(items: [.keepalive(inactivity: 0, interval: 9_999)]))
        world.run(for: .seconds(1))
        #expect(world.failures == [.unexpectedMessage] && world.open == nil)
    }

    @Test("A server that stops answering is left after 15 seconds, at each stage") func silence() throws {
        var world = try VirtualPush(Self.lamp)
        world.server.isSilent = true
        world.run(for: .seconds(20))
        #expect(world.failures == [.noAnswer])
        var later = try VirtualPush(Self.lamp)
        later.server.interval = 60_000
        later.run(for: .seconds(5))
        later.server.isSilent = true
        later.run(for: .seconds(80))
        #expect(later.failures == [.noAnswer] && later.services[0].count == 1)
    }

    @Test("Messages that the protocol does not permit end the session for an hour") func hostileMessages() throws {
        let messages: [StatefulMessage] = [
            StatefulMessage(id: 999, isResponse: true), StatefulMessage(isResponse: true), StatefulMessage(),
            StatefulMessage(items: [.unsubscribe(1)]), StatefulMessage(items: [.other(type: 0xF801, [])]),
            StatefulMessage(items: [.padding(count: 3), .push([.add(Self.lamp[0])])]),
        ]
        let damaged: [[UInt8]] = [[], [1, 2, 3], [UInt8](repeating: 0xFF, count: 100)]
        for message in try messages.map({ try $0.encoded() }) + damaged {
            var world = try Self.live()
            world.send(message)
            world.run(for: .seconds(3590))
            #expect(world.failures.count == 1 && world.connections.count == 1, "\(message)")
            #expect(world.services[0].count == 1)
        }
    }

    @Test("A request of the server is answered with an error, and the session continues") func serverRequest() throws {
        var world = try Self.live()
        world.send(StatefulMessage(id: 77, items: [.other(type: 0xF801, [])]))
        world.run(for: .seconds(1))
        let last = try #require(world.received.last).message
        #expect(last == StatefulMessage(id: 77, isResponse: true, code: StatefulMessage.unknownOperation))
        #expect(world.failures.isEmpty && world.open != nil)
    }

    @Test("Changes of unknown records, of other names and of other classes change nothing")
    func unrelatedChanges() throws {
        var world = try Self.live()
        let count = world.reports.count
        var chaos = Self.lamp[0]
        chaos.recordClass = RecordClass(rawValue: 3)
        world.send(
            StatefulMessage(items: [
                .push([
                    .remove(Self.service("Fan")[0]), .remove(chaos), .add(Self.service("Fan")[1]),
                    .removeAll(Question(name: VirtualPush.type, type: .any, recordClass: chaos.recordClass)),
                    .removeAll(Question(name: VirtualPush.type, type: .srv)), .add(Self.lamp[0]),
                    .removeAll(Question(name: .root, type: .any, recordClass: .any)),
                ])
            ]))
        world.run(for: .seconds(5))
        #expect(world.reports.count == count && world.failures.isEmpty && world.services[0].count == 1)
    }

    @Test("The first records may arrive in many slow messages and in any order") func slowRecords() throws {
        let names = (0..<40).map { "Lamp \($0)" }
        var world = try VirtualPush(names.flatMap { Self.service($0) }.reversed())
        world.server.recordsPerMessage = 1
        world.server.pause = .milliseconds(200)
        world.run(for: .seconds(60))
        #expect(world.services[0].count == 40 && world.subscriptions.count == 161)
        #expect(!world.reports.contains { if case .lost = $0 { true } else { false } })
    }

    @Test("A question with more than 2,000 records is polled, and the session continues") func manyRecords() throws {
        var world = try VirtualPush(Self.service("Lamp", timeToLive: 60))
        world.run(for: .seconds(5))
        world.add((0..<10_000).flatMap { Self.service("Lamp \($0)", timeToLive: 60).prefix(1) })
        world.run(for: .milliseconds(500))
        #expect(world.subscriptions[Self.list] == nil && world.open != nil && world.services[0].count == 1)
        world.run(for: .seconds(65))
        #expect(world.asked.filter { $0.question == Self.list }.count == 2)
        #expect(world.open != nil && world.failures.isEmpty && world.services[0].count == 1)
    }

    @Test("A list with too many records from the start ends the session for an hour") func tooManyRecords() throws {
        var world = try VirtualPush((0..<10_000).flatMap { Self.service("Lamp \($0)").prefix(1) })
        world.handle(.stop, by: 0)
        world.handle(.follow(Self.list))
        world.run(for: .seconds(3000))
        #expect(world.failures == [.tooManyRecords] && world.connections.count == 1)
    }

    @Test("Questions above the limit of subscriptions are polled") func subscriptionLimit() throws {
        var world = try VirtualPush((0..<400).flatMap { Self.service("Lamp \($0)") })
        world.run(for: .seconds(60))
        #expect(world.subscriptions.count == PushSession.subscriptionLimit && world.services[0].count == 400)
        world.remove((0..<300).flatMap { Self.service("Lamp \($0)") })
        world.run(for: .seconds(60))
        #expect(world.services[0].count == 100 && world.subscriptions.count == 401)
        #expect(world.asked.filter { $0.question == Self.list }.count == 1)
    }

    @Test("A flood of messages ends the session") func flood() throws {
        var world = try Self.live()
        let record = Self.lamp[0]
        for number in 0..<PushSession.messageBurst + 100 {
            world.send(StatefulMessage(items: [.push([number % 2 == 0 ? .remove(record) : .add(record)])]))
        }
        world.run(for: .seconds(1))
        #expect(world.failures == [.flood] && world.open == nil)
    }

    @Test("An alias is left to the resolver") func alias() throws {
        var world = try Self.live()
        let host = Self.lamp[3].name
        world.push([.add(Record(name: host, timeToLive: 60, data: .other(.cname, VirtualPush.zoneName.bytes)))])
        world.run(for: .seconds(1))
        #expect(world.subscriptions.count == 3 && !world.subscriptions.keys.contains { $0.name == host })
        #expect(world.failures.isEmpty)
    }

    @Test("A change of the network begins a new search") func networkChange() throws {
        var world = try Self.live()
        world.handle(.networkChanged)
        world.run(for: .seconds(5))
        #expect(world.connections.count == 2 && world.subscriptions.count == 5)
        #expect(world.failures.isEmpty)
    }

    @Test(
        "After any changes, losses and outages, the services are those of the zone, and a steady one is never lost",
        arguments: 1...40 as ClosedRange<UInt64>)
    func randomLife(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let names = (0..<6).map { "Plug \($0)" }
        var world = try VirtualPush(Self.service("Steady", timeToLive: 120), browsers: 2, seed: seed)
        var present: [String: UInt16] = [:]
        func records(_ name: String) -> [Record] {
            Self.service(name, port: present[name] ?? 0, timeToLive: 120)
        }
        for _ in 0..<60 {
            world.run(for: random.duration(in: .zero ... .seconds(8)))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: world.disconnect()
            case 1:
                world.server.acceptsConnections.toggle()
                world.disconnect()
            case 2:
                world.server.recordsPerMessage = Int.random(in: 1...4, using: &random)
                world.server.pause = random.duration(in: .zero ... .milliseconds(300))
            case 3: world.handle(.networkChanged)
            default:
                let name = names[Int.random(in: 0..<names.count, using: &random)]
                if present[name] != nil { world.remove(records(name)) }
                present[name] = random.chance(0.5) ? UInt16.random(in: 1...9, using: &random) : nil
                if present[name] != nil { world.add(records(name)) }
            }
        }
        world.run(for: .seconds(500))
        let expected = Dictionary(uniqueKeysWithValues: present.map { (Array($0.key.utf8), $0.value) })
        for services in world.services {
            let found = services.values.filter { $0.name.firstLabel != Array("Steady".utf8)[...] }
            #expect(Dictionary(uniqueKeysWithValues: found.map { (Array($0.name.firstLabel), $0.port) }) == expected)
            #expect(services.count == expected.count + 1)
        }
        #expect(!world.reports.contains(.lost("Steady._smartplug._tcp.example.org")))
    }
}
