import DNSWire
import MulticastDNS
import ProtocolCore
import Testing

struct ClaimTests {
    @Test("A new service is probed, announced and withdrawn with the expected packets and times")
    func probesAnnouncementsAndGoodbyeAreExactlyThese() throws {
        var test = Harness.responder()
        test.run(for: .seconds(60))
        let sent = test.sent
        let start = try #require(sent.first?.time)
        #expect(start <= Instant.zero + .milliseconds(250))
        let times: [Duration] = [0, 250, 500, 750, 1750, 3750, 7750].map { .milliseconds($0) }
        #expect(sent.map { $0.time - start } == times)

        func plain(_ record: Record) -> Record {
            var record = record
            record.isCacheFlush = false
            return record
        }
        func probe(wantsUnicast: Bool) -> Message {
            Message(
                questions: [host, instance].map { Question(name: $0, type: .any, wantsUnicast: wantsUnicast) },
                authorities: [address(), srv(), txt()].map(plain))
        }
        #expect(sent.prefix(3).map(\.message) == [true, false, false].map(probe))
        let announcement = response([address(), srv(), txt(), pointer()], [hostNSEC, serviceNSEC])
        #expect(sent.dropFirst(3).map(\.message) == [announcement, announcement, announcement, announcement])
        #expect(sent.allSatisfy { $0.datagram.destination == .multicast(.v4) && $0.datagram.interface == 2 })
        #expect(test.log.contains { $0.time == start + .milliseconds(750) && $0.action == .claimed(serviceID) })

        test.clear()
        test.send(.stop)
        #expect(test.sent.map(\.message) == [response([address(ttl: 0), srv(ttl: 0), txt(ttl: 0), pointer(ttl: 0)])])
        #expect(test.machine.nextDeadline == nil)
    }

    @Test("Probes do not request unicast answers if another responder shares the port")
    func besideAnotherResponderOfTheHostNoProbeAsksForUnicast() {
        var test = Harness(Responder(random: SeededRandom(seed: 1), sharesPort: true))
        test.send(.interfaceChanged(ethernet))
        test.send(.publish(hostID, hostGroup))
        test.run(for: .milliseconds(900))
        let probes = test.sent.filter { !$0.message.authorities.isEmpty }
        #expect(probes.count == 3 && probes.allSatisfy { $0.message.questions.allSatisfy { !$0.wantsUnicast } })
    }

    @Test("Probing starts only when an interface has an address")
    func nothingIsProbedForBeforeAnAddressExists() {
        var test = Harness.responder(on: [NetworkInterface(id: 2, name: "eth0", addresses: [])])
        test.run(for: .seconds(60))
        #expect(test.log.isEmpty)
        test.send(.interfaceChanged(ethernet))
        test.run(for: .seconds(2))
        #expect(test.log.contains { $0.action == .claimed(serviceID) })
    }

    @Test("Queries for a name are not answered while it is probed")
    func nothingIsAnsweredBeforeTheNameIsOurs() throws {
        var test = Harness.responder()
        test.run(for: .milliseconds(600))
        test.clear()
        test.send(.received(try inbound(ask(instance, .srv))))
        test.send(.received(try inbound(ask(type, .ptr))))
        #expect(test.log.isEmpty)
    }

    @Test("The loser of a tiebreak probes again after one second")
    func theLoserOfATiebreakProbesAgainAfterASecond() throws {
        var test = Harness.responder()
        test.run(for: .milliseconds(300))
        test.clear()
        let lost = test.now
        let theirs = Message(questions: [Question(name: instance, type: .any)], authorities: [srv(81), txt()])
        test.send(.received(try inbound(theirs)))
        test.run(for: .seconds(3))
        let probes = test.sent.filter { $0.message.authorities.contains(srv().withoutFlush) }
        #expect(probes.map { $0.time - lost } == [.milliseconds(1000), .milliseconds(1250), .milliseconds(1500)])
        #expect(probes.map { $0.message.questions.map(\.wantsUnicast) } == [[true], [false], [false]])
        #expect(test.conflicts.isEmpty)
    }

    @Test("The winner of a tiebreak continues and claims the name")
    func theWinnerOfATiebreakGoesOn() throws {
        var test = Harness.responder()
        test.run(for: .milliseconds(300))
        let theirs = Message(questions: [Question(name: instance, type: .any)], authorities: [srv(79), txt()])
        test.send(.received(try inbound(theirs)))
        test.run(for: .milliseconds(700))
        #expect(test.log.contains { $0.action == .claimed(serviceID) })
    }

    @Test("A conflicting response during probing is reported, and a new name is then probed", arguments: [true, false])
    func aDenialWhileProbingIsAConflict(flush: Bool) throws {
        var test = Harness.responder()
        test.run(for: .milliseconds(600))
        var denial = srv(81)
        denial.isCacheFlush = flush
        test.send(.received(try inbound(response([denial]))))
        #expect(test.conflicts.map(\.group) == [serviceID])
        var other = serviceGroup
        other.name = "B._x._tcp.local"
        other.unique = [Record(name: other.name, timeToLive: 120, data: srv().data)]
        test.clear()
        test.send(.publish(serviceID, other))
        test.run(for: .seconds(2))
        let probes = test.sent.filter { $0.message.questions.map(\.name).contains(other.name) }
        #expect(probes.count == RFC6762.probeCount)
        #expect(test.log.contains { $0.action == .claimed(serviceID) })
        #expect(!test.sent.contains { $0.message.answers.contains { $0.timeToLive == 0 } })
    }

    @Test("A conflicting response before the first probe is ignored")
    func whatWasSaidBeforeTheFirstProbeIsNoConflict() throws {
        var test = Harness.responder()
        test.send(.received(try inbound(response([srv(81), address(9)]))))
        test.run(for: .seconds(2))
        #expect(test.conflicts.isEmpty)
        #expect(test.log.contains { $0.action == .claimed(serviceID) })
    }

    @Test("A conflict about a claimed name restarts its probes, and a second conflict is reported")
    func aLaterConflictProbesTheSameNameAgainAndThenGivesItUp() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(response([srv(81)]))))
        test.run(for: .milliseconds(300))
        #expect(test.conflicts.isEmpty)
        #expect(test.sent.first?.message.questions == [Question(name: instance, type: .any, wantsUnicast: true)])
        test.send(.received(try inbound(response([srv(81)]))))
        #expect(test.conflicts.map(\.group) == [serviceID])
    }

    @Test("A conflicting unicast response is ignored except during probing")
    func aClaimThatIsSentToUsAloneCountsOnlyWhileProbing() throws {
        var test = Harness.announced()
        test.send(.received(try inbound(response([srv(81)]), wasMulticast: false)))
        test.run(for: .seconds(2))
        #expect(test.log.isEmpty)
        test.send(.resumed)
        test.run(for: .milliseconds(300))
        test.send(.received(try inbound(response([srv(81)]), wasMulticast: false)))
        #expect(test.conflicts.map(\.group) == [serviceID])
    }

    @Test("Identical records, our own other address and goodbyes are not conflicts")
    func whatSaysTheSameIsNoConflict() throws {
        let second = NetworkInterface(
            id: 3, name: "wlan0", addresses: [InterfaceAddress(.v4(10, 0, 0, 2), prefixLength: 24)])
        var test = Harness.announced(on: [ethernet, second])
        // The first packet is from another responder on this host, the second is from our other interface on the same
        // link, and the third is a goodbye.
        test.send(.received(try inbound(response([srv(), txt(), address()]))))
        test.send(.received(try inbound(response([address(2), hostNSEC]))))
        test.send(.received(try inbound(response([srv(81, ttl: 0)]))))
        test.run(for: .seconds(2))
        #expect(test.log.isEmpty)
    }

    @Test("A host with two interfaces on the same link does not conflict with itself")
    func aHostWithTwoInterfacesOnOneLinkDoesNotConflictWithItself() throws {
        let second = NetworkInterface(
            id: 3, name: "wlan0", addresses: [InterfaceAddress(.v4(10, 0, 0, 2), prefixLength: 24)])
        var test = Harness.responder(on: [ethernet, second])
        // Every packet comes back on both interfaces.
        var seen = 0
        for _ in 0..<3000 {
            test.run(for: .milliseconds(1))
            for packet in test.sent.dropFirst(seen) {
                seen += 1
                for interface: InterfaceID in [2, 3] {
                    test.send(.received(try inbound(packet.message, on: interface)))
                }
            }
        }
        #expect(test.conflicts.isEmpty)
        #expect(test.log.contains { $0.action == .claimed(serviceID) })
        #expect(test.sent.filter { !$0.message.flags.contains(.response) }.count == 6)
    }

    @Test("A former address gets a goodbye, and later packets with that address are not conflicts")
    func anAddressThatWasOursIsNoConflictAndGetsAGoodbye() throws {
        var test = Harness.announced()
        let moved = NetworkInterface(
            id: 2, name: "eth0", addresses: [InterfaceAddress(.v4(10, 0, 0, 5), prefixLength: 24)])
        test.send(.interfaceChanged(moved))
        #expect(test.sent.first?.message == response([address(1, ttl: 0)]))
        #expect(test.sent.last?.message == response([address(5)], [hostNSEC]))
        test.send(.received(try inbound(response([address(1)]))))
        test.run(for: .seconds(30))
        #expect(test.conflicts.isEmpty)
        #expect(test.sent.allSatisfy { $0.message.flags.contains(.response) })
    }

    @Test("After fifteen conflicts each further attempt is delayed by five seconds")
    func afterFifteenConflictsEachFurtherTryWaitsFiveSeconds() throws {
        var test = Harness.responder()
        test.run(for: .milliseconds(300))
        for attempt in 1...17 {
            let name = try Name(presentation: "N\(attempt)._x._tcp.local")
            let group = RecordGroup(
                name: name, unique: [Record(name: name, timeToLive: 120, data: srv().data)], requires: hostID)
            test.clear()
            test.send(.publish(serviceID, group))
            let published = test.now
            test.run(for: .milliseconds(attempt <= 15 ? 300 : 5300))
            let first = try #require(test.sent.first { $0.message.questions.contains { $0.name == name } })
            if attempt <= 15 {
                #expect(first.time - published <= .milliseconds(250))
            } else {
                #expect(first.time - published == .seconds(5))
            }
            let denial = Record(name: name, timeToLive: 120, data: srv(81).data)
            test.send(.received(try inbound(response([denial]))))
            #expect(test.conflicts.map(\.group) == [serviceID])
        }
    }

    @Test("A manual rename sends a goodbye, then probes the new name")
    func aManualRenameSaysGoodbyeFirst() {
        var test = Harness.announced()
        var other = serviceGroup
        other.name = "B._x._tcp.local"
        other.unique = [Record(name: other.name, timeToLive: 120, data: srv().data)]
        other.shared = [Record(name: type, timeToLive: 4500, data: .ptr(other.name))]
        test.send(.publish(serviceID, other))
        #expect(test.sent.map(\.message) == [response([srv(ttl: 0), txt(ttl: 0), pointer(ttl: 0)])])
        test.clear()
        test.run(for: .seconds(2))
        #expect(test.sent.prefix(3).allSatisfy { $0.message.questions.map(\.name) == [other.name] })
        #expect(test.sent.dropFirst(3).first?.message.answers.contains(other.shared[0]) == true)
    }

    @Test("A service is announced with a new host name only after that name is claimed")
    func aServiceFollowsItsHostOnlyToANameThatHasBeenWon() throws {
        var test = Harness.announced()
        let newHost: Name = "h-2.local"
        test.send(.publish(hostID, RecordGroup(name: newHost, publishesAddresses: true)))
        var moved = serviceGroup
        moved.unique[0].data = .srv(priority: 0, weight: 0, port: 80, target: newHost)
        test.send(.publish(serviceID, moved))
        test.run(for: .seconds(2))
        let service = try #require(test.sent.first { $0.message.answers.contains { $0.data == moved.unique[0].data } })
        #expect(service.message.answers.contains { $0.name == newHost && $0.type == .a })
        #expect(test.sent.filter { $0.message.questions.map(\.name) == [newHost] }.count == 3)
    }

    @Test("Five hundred services share probe and announcement packets")
    func fiveHundredServicesShareTheirPackets() throws {
        var test = Harness.responder()
        for number in 3..<503 {
            let name = try Name(presentation: "Service \(number)._x._tcp.local")
            let unique = [srv(), txt()].map { Record(name: name, timeToLive: $0.timeToLive, data: $0.data) }
            let shared = Record(name: type, timeToLive: 4500, data: .ptr(name))
            let group = RecordGroup(name: name, unique: unique, shared: [shared], requires: hostID)
            test.send(.publish(GroupID(rawValue: UInt64(number)), group))
        }
        test.run(for: .seconds(60))
        #expect(test.log.filter { if case .claimed = $0.action { true } else { false } }.count == 502)
        #expect(test.sent.allSatisfy { $0.datagram.bytes.count <= 1452 })
        #expect(test.sent.count < 7 * 80, "\(test.sent.count) packets")
    }
}

extension Record {
    var withoutFlush: Record {
        var record = self
        record.isCacheFlush = false
        return record
    }
}
