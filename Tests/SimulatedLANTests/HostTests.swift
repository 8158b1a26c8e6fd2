import ProtocolCore
import SimulatedLAN
import Testing

@Suite struct HostTests {
    @Test("A host's clock starts at its boot and continues across a process restart")
    func aHostsClockStartsAtItsBootAndStaysThroughARestartOfTheProcess() throws {
        let pair = Pair()
        pair.lan.schedule(.powerCut(pair.left), after: .seconds(5))
        pair.lan.schedule(.powerOn(pair.left), after: .seconds(10))
        pair.lan.schedule(.kill(pair.left), after: .seconds(12))
        pair.lan.schedule(.start(pair.left), after: .seconds(13))
        try pair.lan.run(for: .seconds(20))
        let starts = pair.lan[pair.left].log.filter { if case .started = $0.note { true } else { false } }
        #expect(starts.map(\.at) == [.zero, .zero, Instant(nanoseconds: 3_000_000_000)])
        #expect(starts.map(\.note) == [.started(.powerOn), .started(.powerOn), .started(.processStart)])
        let boots = pair.lan[pair.left].boots
        #expect(boots[0] != boots[1] && boots[1] == boots[2])
    }

    @Test("Deadlines use the host's clock and are dropped by a power cut")
    func deadlinesComeAtTheirTimeOnTheHostsClockAndNotAfterAPowerCut() throws {
        let lan = SimulatedLAN<Chatter>(seed: 1, budget: 100)
        let host = lan.add(Chatter(alarm: .seconds(4)), name: "host")
        lan.schedule(.powerOn(host), after: .seconds(100))
        lan.schedule(.powerCut(host), after: .seconds(103))
        lan.schedule(.powerOn(host), after: .seconds(200))
        try lan.run(for: .seconds(300))
        let alarms = lan[host].log.filter { $0.note == .alarm }
        #expect(alarms.map(\.at) == [Instant(nanoseconds: 4_000_000_000)])
    }

    @Test("A resumed host receives the stream data of its suspension, but not the datagrams")
    func aSuspendedHostHearsOfItsStreamsLaterAndOfNothingElse() throws {
        let pair = Pair()
        pair.lan.schedule(pair.connect(), on: pair.left)
        pair.lan.schedule(.suspend(pair.right), after: .seconds(1))
        pair.lan.schedule(pair.datagram([1]), on: pair.left, after: .seconds(2))
        pair.lan.schedule(pair.write([7]), on: pair.left, after: .seconds(2))
        try pair.lan.run(for: .seconds(60))
        #expect(pair.lan[pair.right].bytes == [])
        pair.lan.schedule(.resume(pair.right))
        try pair.lan.run(for: .seconds(120))
        #expect(pair.lan[pair.right].bytes == [7])
        #expect(pair.notes(pair.right) == [.accepted(port: 80)])
    }

    @Test("A host that breaks down does not perform its later actions", arguments: [Breakdown.powerCut, .kill])
    func aHostThatBreaksDownInTheMiddleDoesTheRestNot(breakdown: Breakdown) throws {
        var received: Set<[UInt8]> = []
        for seed in 1...20 {
            let pair = Pair(seed: UInt64(seed))
            pair.lan.schedule(pair.connect(), on: pair.left)
            let stream = StreamID(1)
            pair.lan.schedule(
                .actInTurn([.write(stream, [1]), .breakDown(breakdown), .write(stream, [2])]), on: pair.left,
                after: .seconds(1))
            try pair.lan.run(for: .seconds(5))
            #expect(!pair.lan.isRunning(pair.left))
            received.insert(pair.lan[pair.right].bytes)
            pair.lan.schedule(breakdown == .kill ? .start(pair.left) : .powerOn(pair.left))
            try pair.lan.run(for: .seconds(1))
            #expect(pair.lan.isRunning(pair.left))
        }
        // The kernel of a killed process may still deliver earlier bytes.
        #expect(received == (breakdown == .kill ? [[], [1]] : [[]]))
    }

    @Test("A wall clock step does not change the monotonic clock")
    func theWallClockStepsAndTheOtherDoesNot() throws {
        let pair = Pair()
        pair.lan.schedule(.stepWallClock(pair.left, by: .seconds(-3600)), after: .seconds(1))
        try pair.lan.run(for: .seconds(2))
        #expect(pair.notes(pair.left) == [.stepped(.seconds(-3600))])
        #expect(pair.lan.wallClockOffset(of: pair.left) == .seconds(-3600))
        #expect(pair.lan.clock(of: pair.left) == Instant(nanoseconds: 2_000_000_000))
    }

    @Test("A run that exceeds its budget of deliveries fails with its seed and the command that replays it")
    func aStormFailsWithTheSeedAndTheWayToReplayIt() throws {
        let pair = Pair(seed: 77, budget: 500)
        pair.lan.schedule(.storm, on: pair.left, after: .seconds(1))
        let failure = try #require(throws: SimulationFailure.self) { try pair.lan.run(for: .seconds(2)) }
        #expect(failure.seed == 77)
        #expect(failure.reason == "after 1.0 s: a storm: the budget of deliveries is spent")
        #expect(failure.trace.last == "1.0 s left: deadline")
        #expect(failure.description.hasSuffix("replay: Scripts/test simulation --seed 77"))
    }

    @Test("The invariant is checked after every delivery")
    func theInvariantIsCheckedAfterEveryDelivery() throws {
        struct Broken: Error {}
        let pair = Pair()
        for second in 1...5 {
            pair.lan.schedule(pair.datagram([UInt8(second)]), on: pair.left, after: .seconds(second))
        }
        #expect(throws: SimulationFailure.self) {
            try pair.lan.run(for: .seconds(9)) { lan in
                if lan[pair.right].notes.contains(.datagram([3])) { throw Broken() }
            }
        }
        #expect(pair.notes(pair.right) == [.datagram([1]), .datagram([2]), .datagram([3])])
    }

    @Test("A seed always gives the same run, and a different seed a different one")
    func theSameSeedGivesTheSameRunAndAnotherSeedAnother() throws {
        func log(seed: UInt64) throws -> [Chatter.Entry] {
            let faults = LinkFaults(loss: 0.2, duplication: 0.2, reordering: 0.3)
            let pair = Pair(seed: seed, faults)
            pair.lan.schedule(pair.connect(), on: pair.left)
            for number in 0..<100 {
                pair.lan.schedule(pair.datagram([UInt8(number)]), on: pair.left, after: .milliseconds(20 * number))
            }
            try pair.lan.run(for: .seconds(10))
            return pair.lan[pair.right].log
        }
        #expect(try log(seed: 3) == log(seed: 3))
        #expect(try log(seed: 3) != log(seed: 4))
    }

    @Test("The environment determines the seeds")
    func seedsComeFromTheEnvironment() {
        #expect(SeedPlan(environment: [:], sampled: 3).seeds == [1, 2, 3])
        #expect(SeedPlan(environment: ["SMARTPLUG_SEEDS": "5"], sampled: 3).seeds == [1, 2, 3, 4, 5])
        #expect(SeedPlan(environment: ["SMARTPLUG_SEEDS": "5", "SMARTPLUG_SEED": "99"]).seeds == [99])
        #expect(SeedPlan(environment: [:], sampled: 5).parts(2).map(\.seeds) == [[1, 3, 5], [2, 4]])
        #expect(SeedPlan(environment: [:], sampled: 1).parts(2).map(\.seeds) == [[1]])
    }
}
