import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

/// The records of a sleeping host, which a sleep proxy publishes.
@Suite struct TakeOverTests {
    private static let option = Record(
        name: Name.root, recordClass: RecordClass(rawValue: 1440), timeToLive: 0, data: .other(.opt, [0, 4, 0, 1, 7]))
    private static let sleeperHost: Name = "sleeper.local"
    private static let sleeperID = GroupID(rawValue: 1 << 32)
    private static let wireless = NetworkInterface(
        id: 3, name: "wlan0", addresses: [InterfaceAddress(.v4(10, 0, 1, 1), prefixLength: 24)])

    private static func group(interface: InterfaceID? = nil) -> RecordGroup {
        let address = Record(name: sleeperHost, timeToLive: 120, data: .a(IPv4Address(10, 0, 0, 7)))
        return RecordGroup(name: sleeperHost, unique: [address], option: option, interface: interface)
    }

    private static func announced(_ group: RecordGroup = group()) -> Harness<Responder> {
        var harness = Harness<Responder>.announced(on: [ethernet, wireless])
        harness.send(.takeOver(sleeperID, group))
        return harness
    }

    @Test("Records that are taken over are announced at once, without probes") func recordsAreAnnouncedAtOnce() {
        let harness = Self.announced()
        #expect(harness.sent.map(\.time) == [harness.now, harness.now])
        #expect(harness.sent.allSatisfy { $0.message.answers.map(\.name) == [Self.sleeperHost] })
        #expect(harness.sent.allSatisfy { $0.message.questions.isEmpty })
    }

    @Test("Each packet with records that are taken over contains the OPT record, and no other packet does")
    func thePacketsHaveTheOption() throws {
        var harness = Self.announced()
        harness.run(for: .seconds(10))
        harness.clear()
        let questions = [Self.sleeperHost, host].map { Question(name: $0, type: .a) }
        harness.send(.received(try inbound(Message(questions: questions))))
        harness.run(for: .seconds(1))
        #expect(harness.sent.count == 2)
        for (_, message, _) in harness.sent {
            let isSleepers = message.answers.map(\.name) == [Self.sleeperHost]
            #expect(message.additionals.contains(Self.option) == isSleepers)
        }
    }

    @Test("Probes for a group that has an OPT record contain that record") func probesHaveTheOption() {
        var harness = Harness<Responder>.announced()
        harness.send(.publish(Self.sleeperID, Self.group()))
        harness.run(for: .milliseconds(700))
        #expect(harness.sent.count == 3)
        #expect(harness.sent.allSatisfy { $0.message.additionals == [Self.option] })
    }

    @Test("A group with an interface is published only on that interface") func aGroupMayHaveAnInterface() {
        let harness = Self.announced(Self.group(interface: 3))
        #expect(harness.sent.map(\.datagram.interface) == [3])
        var probing = Harness<Responder>.announced(on: [ethernet, Self.wireless])
        probing.send(.publish(Self.sleeperID, Self.group(interface: 3)))
        probing.run(for: .seconds(10))
        #expect(Set(probing.sent.map(\.datagram.interface)) == [3])
    }

    @Test("A group that is handed back gets no goodbye, and queries for it are no longer answered")
    func aGroupIsHandedBack() throws {
        var harness = Self.announced()
        harness.run(for: .seconds(10))
        harness.clear()
        harness.send(.handBack(Self.sleeperID))
        harness.send(.received(try inbound(ask(Self.sleeperHost, .a))))
        harness.run(for: .seconds(10))
        #expect(harness.sent.isEmpty)
    }

    @Test("Another host with the name of a group that was taken over causes probes and a conflict")
    func aConflictIsReported() throws {
        var harness = Self.announced()
        harness.run(for: .seconds(10))
        let other = Record(
            name: Self.sleeperHost, isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(10, 0, 0, 8)))
        for _ in 0..<3 {
            harness.send(.received(try inbound(response([other]))))
            harness.run(for: .milliseconds(300))
        }
        #expect(harness.conflicts.map(\.group) == [Self.sleeperID])
    }
}
