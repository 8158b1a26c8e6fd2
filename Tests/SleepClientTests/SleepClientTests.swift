import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepClient
import Testing

struct SleepClientTests {
    private func name(_ text: String) throws -> SleepProxyName { try #require(SleepProxyName(text)) }

    @Test("The proxy with the lowest metrics gets all records, with the card and the sequence number")
    func registersWithTheBestProxy() throws {
        var link = VirtualLink()
        link.add("70-35-60-70.1 Computer", at: 3, .accepts(after: .zero))
        link.add("20-35-60-70.1 Plug", at: 4, .accepts(after: .milliseconds(40), lease: 3600))
        link.suspend()
        link.run(for: .seconds(4))
        #expect(link.outcome == .registered(with: try name("20-35-60-70.1 Plug"), lease: .seconds(3600)))
        #expect(link.ready.count == 1)
        #expect(link.readyAfter == .milliseconds(42))
        #expect(link.proxies[0].received.isEmpty)
        let registration = try #require(link.proxies[1].received.first)
        #expect(registration.records == VirtualLink.records)
        #expect(registration.owner == OwnerOption(sequence: 9, primary: VirtualLink.card))
        #expect(link.lines == ["before the suspend, on eth2: registered with the sleep proxy Plug for 1 h"])
    }

    @Test("Proxies with equal metrics are used in the order of their names")
    func tiesAreBrokenByName() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 B", at: 3, .accepts(after: .zero))
        link.add("20-35-60-70.1 A", at: 4, .accepts(after: .zero))
        link.suspend()
        link.run(for: .seconds(1))
        #expect(link.outcome == .registered(with: try name("20-35-60-70.1 A"), lease: .seconds(7200)))
    }

    @Test("A lost message is repeated with the same identifier", arguments: [1, 2])
    func repeatsLostMessages(_ lost: Int) throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .loses(lost))
        link.suspend()
        link.run(for: .seconds(4))
        guard case .registered = link.outcome else { Issue.record("\(String(describing: link.outcome))"); return }
        #expect(link.proxies[0].received.count == lost + 1)
        #expect(Set(link.proxies[0].received.map(\.id)).count == 1)
        #expect(try #require(link.readyAfter) < .seconds(1))
    }

    @Test("After a refusal the next proxy is tried at once, but not the same proxy at another address")
    func fallsBackAfterARefusal() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Strict", at: 3, .refuses(.refused))
        link.add("20-35-60-70.1 Strict", at: 4, .refuses(.refused))
        link.add("70-35-60-70.1 Mild", at: 5, .accepts(after: .zero))
        link.suspend()
        link.run(for: .seconds(4))
        #expect(link.outcome == .registered(with: try name("70-35-60-70.1 Mild"), lease: .seconds(7200)))
        #expect(link.proxies.map(\.received.count) == [1, 0, 1])
        #expect(link.readyAfter == .milliseconds(4))
    }

    @Test("The reason of a refusal is reported if no proxy is left")
    func reportsTheRefusal() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Strict", at: 3, .refuses(.nameExists))
        link.suspend()
        link.run(for: .seconds(4))
        let strict = try name("20-35-60-70.1 Strict")
        #expect(link.outcome == .refused(by: strict, code: SleepRegistrationAnswer.Code.nameExists.rawValue))
        #expect(
            link.lines == [
                "before the suspend, on eth2: the sleep proxy Strict refused the registration: a different host has one of the names"
            ])
    }

    @Test("If a proxy does not answer within 1.5 s, the next one is tried")
    func fallsBackAfterSilence() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Silent", at: 3, .silent)
        link.add("70-35-60-70.1 Next", at: 4, .accepts(after: .zero))
        link.suspend()
        link.run(for: .seconds(4))
        #expect(link.outcome == .registered(with: try name("70-35-60-70.1 Next"), lease: .seconds(7200)))
        #expect(link.proxies[0].received.count == 3)
        #expect(link.readyAfter == .milliseconds(1502))
    }

    @Test(
        "The host is ready to sleep after its time limit at the latest, and after at most 3 s",
        arguments: [(Duration.milliseconds(400), Duration.milliseconds(400)), (.seconds(30), .seconds(3))])
    func keepsTheLimit(_ limit: Duration, _ expected: Duration) throws {
        var link = VirtualLink()
        for index in UInt8(0)..<5 { link.add("2\(index)-35-60-70.1 Silent \(index)", at: 3 + index, .silent) }
        link.suspend(limit: limit)
        link.run(for: .seconds(40))
        #expect(link.readyAfter == expected)
        guard case .noAnswer = link.outcome else { Issue.record("\(String(describing: link.outcome))"); return }
        #expect(link.ready.count == 1)
    }

    @Test("Without a proxy, without records or without a link, the host is ready to sleep at once")
    func nothingToDo() {
        var link = VirtualLink()
        link.suspend()
        #expect(link.outcome == .noProxy)
        #expect(link.lines == ["before the suspend: no sleep proxy"])
        link.add("20-35-60-70.1 Plug", at: 3, .accepts(after: .zero))
        link.suspend([VirtualLink.link(records: [])])
        #expect(link.outcome == .nothingAnnounced)
        link.suspend([])
        #expect(link.ready.map(\.time) == [.zero, .zero, .zero])
        #expect(link.proxies[0].received.isEmpty)
    }

    @Test("An answer from another address does not count")
    func ignoresOtherPeers() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .answersFrom(Peer(address: .v4(192, 0, 2, 66), port: 4000)))
        link.suspend()
        link.run(for: .seconds(4))
        #expect(link.outcome == .noAnswer(from: try name("20-35-60-70.1 Plug")))
    }

    @Test("An answer after the end of the registration changes nothing")
    func ignoresLateAnswers() throws {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Slow", at: 3, .accepts(after: .seconds(2)))
        link.suspend()
        link.run(for: .seconds(10))
        #expect(link.outcome == .noAnswer(from: try name("20-35-60-70.1 Slow")))
        #expect(link.ready.count == 1)
        // The proxy has accepted, so it must release the records.
        link.send(.resumed)
        #expect(link.takeOvers.map(\.interface) == [2])
    }

    @Test("Unreadable answers and answers with a wrong identifier are ignored")
    func ignoresForeignAnswers() {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .accepts(after: .milliseconds(100)))
        link.suspend()
        let id = link.proxies[0].received[0].id
        let peer = link.proxies[0].found.peer
        let foreign = SleepRegistrationAnswer(id: id &+ 1, code: .refused)
        for bytes in [[], [0, 1, 2], foreign.encoded] { link.send(.answer(bytes, from: peer, interface: 2)) }
        link.run(for: .seconds(1))
        guard case .registered = link.outcome else { Issue.record("\(String(describing: link.outcome))"); return }
    }

    @Test("After the wake-up, the host takes over its records four times, with the next sequence number")
    func takesOver() {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .accepts(after: .zero))
        link.suspend()
        link.run(for: .seconds(3_600))
        link.send(.resumed)
        link.run(for: .seconds(60))
        #expect(
            link.takeOvers.map(\.owner)
                == Array(repeating: OwnerOption(sequence: 10, primary: VirtualLink.card), count: 4))
        #expect(
            link.takeOvers.map { $0.time - .zero - .seconds(3_600) }
                == [.zero, .seconds(1), .seconds(3), .seconds(10)])
        #expect(link.lines.last == "awake after 59 min 59 s; Plug represented this host on eth2")
        #expect(link.client.sequence == 10)
        link.suspend()
        link.run(for: .seconds(1))
        #expect(link.proxies[0].received.last?.owner.sequence == 10)
    }

    @Test("The report after the wake-up states if the lease ended during the sleep")
    func reportsTheEndOfTheLease() {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .accepts(after: .zero, lease: 600))
        link.suspend()
        link.run(for: .seconds(7_200))
        link.send(.resumed)
        #expect(link.lines.last == "awake after 1 h 59 min; Plug represented this host on eth2 for the first 10 min")
    }

    @Test("After a cancelled suspend, the registration stops, and the host takes over the records that it had sent")
    func cancelledSuspend() {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .silent)
        link.suspend()
        link.run(for: .milliseconds(300))
        link.send(.resumed)
        link.run(for: .seconds(20))
        #expect(link.ready.isEmpty)
        #expect(link.proxies[0].received.count == 2)
        #expect(link.takeOvers.count == 4)
        #expect(link.lines == ["the suspend was cancelled"])
        link.send(.resumed)
        #expect(link.client.sequence == 10)
    }

    @Test("A suspend directly after a missed wake-up uses the next sequence number")
    func missedResume() {
        var link = VirtualLink()
        link.add("20-35-60-70.1 Plug", at: 3, .accepts(after: .zero))
        link.suspend()
        link.run(for: .seconds(60))
        link.suspend()
        link.run(for: .seconds(60))
        #expect(link.proxies[0].received.map(\.owner.sequence) == [9, 10])
        #expect(link.takeOvers.isEmpty)
    }

    @Test("Each link registers with the best proxy on it, under the same primary address")
    func severalLinks() throws {
        var link = VirtualLink()
        let wireless = MACAddress(2, 0, 0, 0, 0, 0x22)
        link.add("20-35-60-70.1 Wired", at: 3, on: 2, .accepts(after: .zero))
        link.add("10-35-60-70.1 Wireless", at: 4, on: 3, .accepts(after: .milliseconds(100)))
        link.suspend([VirtualLink.link(3, wireless), VirtualLink.link()])
        link.run(for: .seconds(4))
        #expect(
            link.ready.last?.outcomes == [
                "eth2": .registered(with: try name("20-35-60-70.1 Wired"), lease: .seconds(7200)),
                "eth3": .registered(with: try name("10-35-60-70.1 Wireless"), lease: .seconds(7200)),
            ])
        #expect(link.readyAfter == .milliseconds(102))
        #expect(link.proxies[0].received[0].owner == OwnerOption(sequence: 9, primary: VirtualLink.card))
        #expect(
            link.proxies[1].received[0].owner
                == OwnerOption(sequence: 9, primary: VirtualLink.card, wakeup: wireless))
    }

    @Test("Many records are split into messages, and each one needs its answer")
    func splitsRecords() {
        var link = VirtualLink()
        let many = (0..<60).map { index in
            Record(
                name: "_https._tcp.local", timeToLive: 4500,
                data: .txt(Array("\(index)".utf8) + Array(repeating: 0x61, count: 60)))
        }
        link.add("20-35-60-70.1 Plug", at: 3, .loses(1))
        link.suspend([VirtualLink.link(records: VirtualLink.records + many)])
        link.run(for: .seconds(4))
        guard case .registered = link.outcome else { Issue.record("\(String(describing: link.outcome))"); return }
        let received = link.proxies[0].received
        #expect(received.flatMap(\.records).count > many.count)
        #expect(Set(received.flatMap(\.records)) == Set(VirtualLink.records + many))
    }

    @Test("A registration succeeds or ends in time with any loss of messages", arguments: UInt64(0)..<50)
    func anyLoss(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var link = VirtualLink()
        for index in UInt8(0)..<3 {
            link.add("2\(index)-35-60-70.1 P\(index)", at: 3 + index, .loses(Int.random(in: 0...5, using: &random)))
        }
        for round in 0..<5 {
            link.suspend()
            link.run(for: .seconds(3))
            #expect(link.ready.count == round + 1)
            link.send(.resumed)
            link.run(for: .seconds(Int.random(in: 1...600, using: &random)))
            #expect(link.client.sequence == 10 + UInt8(round))
            #expect(link.client.nextDeadline.map { $0 > link.now } ?? true)
        }
    }
}

struct OwnerAnnouncementTests {
    private let owner = OwnerOption(sequence: 4, primary: VirtualLink.card)

    @Test("The announcement of a wake-up has all records, each message with the Owner option")
    func hasAllRecords() throws {
        let many = (0..<60).map { index in
            Record(
                name: "_https._tcp.local", timeToLive: 4500,
                data: .txt(Array("\(index)".utf8) + Array(repeating: 0x61, count: 60)))
        }
        let messages = try owner.announcements(of: many).map { try Message(decoding: $0) }
        #expect(messages.count > 1)
        #expect(messages.flatMap(\.answers) == many)
        for message in messages {
            #expect(try message.optionsRecord()?.owner == owner)
            #expect(message.flags == [.response, .authoritative])
        }
    }

    @Test("Without records there is one message with the Owner option")
    func hasTheOptionWithoutRecords() throws {
        let messages = owner.announcements(of: [])
        #expect(messages.count == 1)
        #expect(try Message(decoding: try #require(messages.first)).optionsRecord()?.owner == owner)
    }
}
