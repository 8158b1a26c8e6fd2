import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import PlugClient

@Suite struct CommandTests {
    @Test("A command is answered with the new state and the number of its event")
    func aCommandIsAnsweredWithStateAndEvent() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.feed(.command(request(1), turnOn))
        #expect(bench.outcomes == [request(1): .done(PlugState(relayOn: true), event: 10)])
        #expect(bench.sequences == [10])
    }

    @Test("A command that is given before the connection is sent when the connection is made")
    func aCommandGivenBeforeTheConnectionWaitsForIt() {
        var bench = FollowedBench()
        bench.feed(.command(request(1), turnOn))
        bench.feed(.command(request(2), .identify))
        #expect(bench.outcomes.isEmpty)
        bench.locateAndConnect()
        #expect(bench.performed == [request(1), request(2)])
        #expect(bench.outcomes.count == 2)
    }

    @Test("A command whose answer was lost is sent again and executed once")
    func aCommandWhoseAnswerWasLostIsAskedAgainAndDoneOnce() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.answers = false
        bench.feed(.command(request(1), turnOn))
        bench.breakConnection()
        bench.serve(
            .record(.relayChanged(on: true, cause: .controller(name: "Desk", request: request(1), authority: .desk))))
        bench.serve(.commandOutcome(command(1), .done(PlugState(relayOn: true), event: nil)))
        bench.locateAndConnect()
        #expect(bench.performed == [request(1)])
        #expect(bench.outcomes == [request(1): .done(PlugState(relayOn: true), event: 10)])
        bench.breakConnection()
        bench.locateAndConnect()
        #expect(bench.performed == [request(1)], "an answered command is not sent again")
    }

    @Test("A command without an answer is sent again with the same id after five seconds")
    func aPlugThatTakesItsTimeIsAskedAgainWithTheSameIdAfterFiveSeconds() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.answers = false
        bench.feed(.command(request(1), turnOn))
        bench.run(for: .seconds(12))
        #expect(bench.performed == [request(1)], "the plug recognizes the repeated id")
        #expect(bench.outcomes.isEmpty)
        bench.serve(.commandOutcome(command(1), .done(PlugState(relayOn: true), event: nil)))
        #expect(bench.outcomes == [request(1): .done(PlugState(relayOn: true), event: nil)])
    }

    @Test("A withdrawn command is not sent") func aCommandThatNobodyWaitsForIsNotSentAgain() {
        var bench = FollowedBench()
        bench.feed(.command(request(1), turnOn))
        bench.feed(.command(request(2), turnOn))
        bench.feed(.withdraw(request(1)))
        bench.locateAndConnect()
        #expect(bench.performed == [request(2)])
    }

    @Test("As many commands as one session allows wait for the connection, and the next one is refused")
    func asManyCommandsWaitAsOneConnectionCarriesAndNoMore() {
        var bench = FollowedBench()
        let limit = PlugWire.requestsInFlight
        for number in 0...limit { bench.feed(.command(request(UInt8(number)), turnOn)) }
        let refusal = Refusal(.busy, "16 commands are already waiting for this plug")
        #expect(bench.outcomes == [request(UInt8(limit)): .refused(refusal)])
        bench.locateAndConnect()
        #expect(bench.performed.count == limit)
        #expect(bench.outcomes.values.filter { if case .done = $0 { true } else { false } }.count == limit)
        bench.feed(.command(request(100), turnOn))
        #expect(bench.performed.last == request(100))
    }

    @Test("A command with an id that is already waiting is ignored") func theSameRequestGivenTwiceIsOne() {
        var bench = FollowedBench()
        bench.feed(.command(request(1), turnOn))
        bench.feed(.command(request(1), turnOn))
        bench.locateAndConnect()
        #expect(bench.performed == [request(1)])
        #expect(bench.finished.count == 1)
    }

    @Test("A command that is answered twice finishes once") func aCommandThatWasAskedAgainIsAnsweredOnce() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.answers = false
        bench.feed(.command(request(1), turnOn))
        let done = PlugServer.Event.commandOutcome(command(1), .done(PlugState(relayOn: true), event: nil))
        for case .shell(.send(let id, let bytes)) in bench.server.handle(done, now: bench.now) {
            for _ in 1...2 { bench.feed(.received(bytes, on: id)) }
        }
        #expect(bench.finished.count == 1)
    }

    @Test("A refusal finishes the command") func aRefusalIsAnAnswer() {
        var bench = FollowedBench()
        bench.answers = false
        bench.locateAndConnect()
        bench.feed(.command(request(1), turnOn))
        bench.serve(.commandOutcome(command(1), .refused(Refusal(.protectionTripped, "too much"))))
        #expect(bench.outcomes == [request(1): .refused(Refusal(.protectionTripped, "too much"))])
    }

    @Test("A command after the stop is refused at once") func afterTheStopACommandIsRefusedAtOnce() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.feed(.stop)
        bench.feed(.command(request(1), turnOn))
        #expect(
            bench.outcomes == [request(1): .refused(Refusal(.deadlinePassed, "the plug is no longer followed"))])
    }

    @Test(
        "Despite disconnections, each command is executed once or refused, and each event arrives once",
        arguments: 0..<300)
    func anyOrderOfBreaksKeepsThePromises(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var bench = FollowedBench(cursor: .after(9), seed: UInt64(seed))
        var given: UInt8 = 0
        var recorded: SequenceNumber = 0
        bench.feed(.located)
        for _ in 0..<60 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                given += 1
                bench.feed(.command(request(given), turnOn))
            case 1:
                bench.press()
                recorded += 1
            case 2: bench.breakConnection()
            case 3: bench.feed(.located)
            case _: bench.run(for: random.duration(in: .zero ... .seconds(2)))
            }
            if bench.connection == nil, bench.follower.isConnecting {
                if random.chance(0.5) { bench.connect() } else { bench.feed(.failed(.away("refused"))) }
            }
        }
        bench.feed(.located)
        if bench.connection == nil { bench.connect() }
        let refused = bench.outcomes.values.filter { if case .refused = $0 { true } else { false } }.count
        #expect(Set(bench.performed).count == bench.performed.count)
        #expect(bench.performed.count + refused == Int(given))
        #expect(bench.outcomes.count == Int(given))
        let last = 9 + recorded + SequenceNumber(bench.performed.count)
        #expect(bench.sequences == Array(10..<last + 1))
    }
}

extension PlugFollower {
    var isConnecting: Bool { if case .connecting = state { true } else { false } }
}
