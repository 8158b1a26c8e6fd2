import PlugModel
import ProtocolCore
import Testing

@testable import Daemon

private func plug(_ number: Int) -> PlugID {
    let digits = String(number, radix: 16)
    return PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits)!
}

private let boot = BootID(bytes: [UInt8](repeating: 1, count: 16))!
private let hour: Int64 = 3_600_000

/// A plan whose queries the test answers from its own list of missing ranges.
private struct Bench {
    var plan = BackfillPlan()
    var now = Instant.zero
    /// The missing ranges of each plug, newest first.
    var missing: [PlugID: [ClosedRange<Int64>]] = [:]
    /// The time of all plugs' clocks, in milliseconds.
    var plugTime = 100 * hour
    var looks = 0
    /// The windows that are requested and not answered.
    var open: [BackfillPlan.Window] = []
    var withdrawn: [BackfillPlan.Window] = []
    var asked: [BackfillPlan.Window] = []

    mutating func feed(_ event: BackfillPlan.Event) {
        for action in plan.handle(event, now: now) {
            switch action {
            case .look(let plug, let boot):
                looks += 1
                feed(.missing(plug, boot, missing[plug] ?? [], now: plugTime))
            case .fetch(let window):
                open.append(window)
                asked.append(window)
            case .withdraw(let window):
                open.removeAll { $0 == window }
                withdrawn.append(window)
            }
        }
    }

    /// Stores samples for the oldest open window, from `from` in milliseconds, or from the start of the window if it is
    /// nil, to the end of the window.
    mutating func store(from: Int64? = nil) {
        let window = open.removeFirst()
        feed(.stored(window, covered: (from ?? window.range.lowerBound)...window.range.upperBound))
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next = plan.nextDeadline, next <= end {
            now = max(now, next)
            feed(.deadlineReached)
        }
        now = end
    }
}

@Suite struct BackfillPlanTests {
    @Test("The newest samples are fetched first, in windows of two hours")
    func whatIsNewestComesFirstInPiecesOfTwoHours() {
        var bench = Bench()
        bench.missing[plug(1)] = [90 * hour...100 * hour, 10 * hour...11 * hour]
        bench.feed(.connected(plug(1), boot: boot))
        while !bench.open.isEmpty { bench.store() }
        #expect(bench.asked.map { $0.range.upperBound / hour } == [100, 98, 96, 94, 92, 90, 11])
        #expect(bench.asked.allSatisfy { $0.range.count <= 2 * hour })
        for (later, earlier) in zip(bench.asked, bench.asked.dropFirst()) {
            #expect(earlier.range.upperBound < later.range.lowerBound)
        }
        // The windows cover all missing samples.
        #expect(bench.asked.map(\.range.count).reduce(0, +) == 11 * Int(hour) + 2)
    }

    @Test("At most one window per plug and four in the house are in progress")
    func onePieceAPlugAndFourInTheHouseAreOnTheirWay() {
        var bench = Bench()
        for number in 1...6 {
            bench.missing[plug(number)] = [0...10 * hour + Int64(number)]
            bench.feed(.connected(plug(number), boot: boot))
        }
        #expect(Set(bench.open.map(\.plug)) == Set((1...4).map(plug)))
        bench.store()
        // Plugs 5 and 6 have newer missing samples than the next windows of the others.
        #expect(bench.open.last?.plug == plug(6))
        bench.store()
        #expect(bench.open.last?.plug == plug(5) && bench.open.count == 4)
    }

    @Test("After an empty window the next is twice as long, up to a day; after one with samples it is two hours long")
    func afterAnEmptyPieceTheNextIsLongerAndAfterAFullOneItIsNot() {
        var bench = Bench()
        bench.missing[plug(1)] = [0...1000 * hour]
        bench.plugTime = 1000 * hour
        bench.feed(.connected(plug(1), boot: boot))
        for _ in 0..<6 { bench.feed(.stored(bench.open.removeFirst(), covered: nil)) }
        #expect(bench.asked.map { $0.range.count / Int(hour) } == [2, 4, 8, 16, 24, 24, 24])
        bench.store()
        #expect(bench.asked.last?.range.count == 2 * Int(hour))
    }

    @Test("Samples that a chunk contains beyond its window are not requested again")
    func whatAChunkBroughtBesidesIsNotAskedForAgain() {
        var bench = Bench()
        bench.missing[plug(1)] = [90 * hour...100 * hour]
        bench.feed(.connected(plug(1), boot: boot))
        bench.store(from: 97 * hour)
        #expect(bench.asked.last?.range.upperBound == 97 * hour - 1)
    }

    @Test("The history is queried again every ten minutes") func everyTenMinutesItLooksAgain() {
        var bench = Bench()
        bench.feed(.connected(plug(1), boot: boot))
        #expect(bench.looks == 1 && bench.open.isEmpty)
        bench.missing[plug(1)] = [bench.plugTime...bench.plugTime + 600_000]
        bench.wait(.seconds(599))
        #expect(bench.looks == 1)
        bench.wait(.seconds(1))
        #expect(bench.looks == 2 && bench.open.count == 1)
        bench.missing = [:]
        bench.store()
        bench.wait(.seconds(600))
        #expect(bench.looks == 3)
    }

    @Test("A failed window is retried with growing delays and does not block other plugs")
    func aFailureIsTriedAgainLaterAndLaterAndHoldsNobodyUp() {
        var bench = Bench()
        bench.missing[plug(1)] = [0...hour]
        bench.feed(.connected(plug(1), boot: boot))
        var moments: [Instant] = []
        for _ in 0..<9 {
            moments.append(bench.now)
            bench.feed(.failed(bench.open.removeFirst()))
            while bench.open.isEmpty, let next = bench.plan.nextDeadline { bench.wait(next - bench.now) }
        }
        let pauses = zip(moments, moments.dropFirst()).map { ($1 - $0).components.seconds }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 320, 600])
        bench.missing[plug(2)] = [0...hour]
        bench.feed(.failed(bench.open.removeFirst()))
        bench.feed(.connected(plug(2), boot: boot))
        #expect(bench.open.map(\.plug) == [plug(2)])
    }

    @Test("A plug that does not answer for 60 seconds frees its place") func aPlugThatNeverAnswersGivesItsPlaceBack() {
        var bench = Bench()
        for number in 1...5 {
            bench.missing[plug(number)] = [0...hour]
            bench.feed(.connected(plug(number), boot: boot))
        }
        bench.wait(.seconds(60))
        #expect(bench.withdrawn.count == 4 && bench.open.map(\.plug) == [plug(5)])
    }

    @Test("A disconnection withdraws the plug's window, and a new boot of the plug gets a new window")
    func aPlugThatGoesTakesItsPieceWithItAndComesBackWithAnother() {
        var bench = Bench()
        bench.missing[plug(1)] = [0...hour]
        bench.feed(.connected(plug(1), boot: boot))
        let first = bench.open[0]
        bench.feed(.disconnected(plug(1)))
        #expect(bench.withdrawn == [first] && bench.open.isEmpty)
        let other = BootID(bytes: [UInt8](repeating: 2, count: 16))!
        bench.feed(.connected(plug(1), boot: other))
        // A late answer belongs to the previous boot and is ignored.
        bench.feed(.stored(first, covered: first.range))
        #expect(bench.open.map(\.boot) == [other])
    }

    @Test("At most 256 missing ranges of a plug are filled before the history is queried again")
    func aTimelineFullOfHolesIsFilledAPartAtATime() {
        var bench = Bench()
        let holes = (0..<1000).map { number -> ClosedRange<Int64> in
            let start = Int64(999 - number) * 10_000
            return start...start + 10
        }
        bench.missing[plug(1)] = holes
        bench.feed(.connected(plug(1), boot: boot))
        for _ in 0..<256 { bench.store() }
        bench.missing[plug(1)] = Array(holes.dropFirst(256))
        #expect(bench.open.isEmpty)
        bench.wait(.zero)
        #expect(bench.open.map(\.range) == [holes[256]])
    }

    @Test("A stop fetches only the newest samples") func atTheStopOnlyWhatCameLastIsFetched() {
        var bench = Bench()
        bench.missing[plug(1)] = [0...100 * hour]
        bench.feed(.connected(plug(1), boot: boot))
        bench.feed(.connected(plug(2), boot: boot))
        bench.missing[plug(2)] = [100 * hour - 1000...100 * hour]
        bench.feed(.stopping)
        #expect(!bench.plan.isDone(now: bench.now))
        #expect(bench.open.map(\.plug) == [plug(1), plug(2)])
        while !bench.open.isEmpty { bench.store() }
        #expect(bench.plan.isDone(now: bench.now))
        #expect(bench.asked.last?.range == 98 * hour + 1...100 * hour)
    }

    @Test("A stop waits at most two seconds for a plug that does not answer")
    func aPlugThatDoesNotAnswerKeepsTheStopForTwoSecondsOnly() {
        var bench = Bench()
        bench.missing[plug(1)] = [0...hour]
        bench.feed(.connected(plug(1), boot: boot))
        bench.feed(.stopping)
        #expect(!bench.plan.isDone(now: bench.now))
        bench.wait(.seconds(2))
        #expect(bench.plan.isDone(now: bench.now))
    }
}
