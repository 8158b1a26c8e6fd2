import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct ButtonTests {
    /// Creates a bench whose machine has started, with an empty log.
    private func bench(_ adjust: (inout ApplianceConfiguration) -> Void = { _ in }) -> Bench {
        var bench = Bench(nil, adjust)
        bench.run(milliseconds: 100)
        bench.forget()
        return bench
    }

    @Test("A short press switches at its debounced release and is reported after the double-press window")
    func aShortPressSwitchesAtItsDebouncedReleaseAndIsReportedAfterTheWindow() {
        var bench = bench()
        bench.press(milliseconds: 150)
        bench.run(milliseconds: 1000)
        // The button is released at 250 ms and debounced at 270 ms. The window for a second press ends at 570 ms.
        #expect(bench.relay == [Timed(270, true)])
        #expect(bench.presses == [Timed(570, .single)])
        #expect(bench.recorded == [.relayChanged(on: true, cause: .button), .buttonPressed(.single)])
    }

    @Test("Without double presses, a single press is reported at its release")
    func withoutDoublePressesSingleIsReportedAtOnce() {
        var bench = bench { $0.doublePressWindow = .zero }
        bench.press(milliseconds: 150)
        bench.run(milliseconds: 100)
        bench.press(milliseconds: 50)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(270, .single), Timed(420, .single)])
        #expect(bench.relay == [Timed(270, true), Timed(420, false)])
    }

    @Test("Two presses within the window are a double press") func twoPressesInTheWindowAreADoublePress() {
        var bench = bench()
        bench.press(milliseconds: 100)
        // The second press begins at 510 ms, 10 ms before the window of the first one (220 + 300) ends, and is
        // debounced after it.
        bench.run(milliseconds: 310)
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(630, .double)])
        #expect(bench.relay == [Timed(220, true), Timed(630, false)])
    }

    @Test("Two presses outside the window are two single presses") func twoPressesFurtherApartAreTwoSinglePresses() {
        var bench = bench()
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 321)
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(520, .single), Timed(941, .single)])
    }

    @Test("A long press is reported while it is held and does not switch")
    func aLongPressIsReportedWhileHeldAndSwitchesNothing() {
        var bench = bench()
        bench.press(milliseconds: 2500)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(1100, .long)])
        #expect(bench.relay.isEmpty)
    }

    @Test("A press just below one second is short") func justBelowASecondIsShort() {
        var bench = bench()
        bench.press(milliseconds: 999)
        bench.run(milliseconds: 1000)
        // The debounced release is later than one second, but the press is measured at the contact.
        #expect(bench.relay == [Timed(1119, true)])
        #expect(bench.presses == [Timed(1419, .single)])
    }

    @Test("If the second press is long, the first press is reported as single")
    func aLongSecondPressLeavesTheFirstSingle() {
        var bench = bench()
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 100)
        bench.press(milliseconds: 1500)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(1300, .single), Timed(1300, .long)])
        #expect(bench.relay == [Timed(220, true)])
    }

    @Test("A bouncing contact is one press") func bouncingIsOnePress() {
        var bench = bench()
        for _ in 0..<6 {
            bench.edge(down: true)
            bench.run(milliseconds: 2)
            bench.edge(down: false)
            bench.run(milliseconds: 1)
        }
        bench.edge(down: true)
        bench.run(milliseconds: 200)
        for _ in 0..<6 {
            bench.edge(down: false)
            bench.run(milliseconds: 3)
            bench.edge(down: true)
            bench.run(milliseconds: 1)
        }
        bench.edge(down: false)
        let release = bench.now.nanoseconds / 1_000_000
        bench.run(milliseconds: 1000)
        #expect(bench.relay == [Timed(release + 20, true)])
        #expect(bench.presses == [Timed(release + 320, .single)])
    }

    @Test("A spike shorter than the debounce time is ignored") func aSpikeShorterThanTheDebounceTimeIsNothing() {
        var bench = bench()
        bench.press(milliseconds: 19)
        bench.run(milliseconds: 2000)
        #expect(bench.recorded.isEmpty)
        #expect(bench.relay.isEmpty)
    }

    @Test("A late wake-up delays the report of a press but does not change it")
    func lateWakeUpsChangeNothingButTheTime() {
        var bench = bench()
        // The shell sleeps during the press: no deadline is handled between the edges.
        bench.edge(down: true)
        bench.now = bench.now + .milliseconds(400)
        bench.edge(down: false)
        bench.now = bench.now + .seconds(3)
        bench.feed(.deadlineReached)
        bench.run(for: ButtonReader.patience)
        #expect(bench.recorded == [.relayChanged(on: true, cause: .button), .buttonPressed(.single)])
    }

    @Test("An edge that the kernel debounced takes effect when it is handled, without a debounce time")
    func edgesThatTheKernelDebouncedActInTheStepThatHearsThem() {
        var bench = bench { $0.debounce = .zero }
        bench.edge(down: true)
        bench.run(milliseconds: 150)
        bench.edge(down: false)
        #expect(bench.relay == [Timed(250, true)])
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(550, .single)])
        bench.edge(down: false)
        bench.edge(down: false)
        bench.run(milliseconds: 1000)
        #expect(bench.presses.count == 1, "a repeated release was reported as a press")
    }

    @Test(
        "Edges that are delivered late count at their own times",
        arguments: [Duration.zero, .milliseconds(20)], [Int64(0), 300, 1200, 60_000])
    func howeverLateEdgesAreHeardTheirOwnTimesCount(debounce: Duration, delay: Int64) {
        var bench = bench { $0.debounce = debounce }
        // Four edges at 0, 900, 1000 and 1050 ms after `start`. A busy machine reads all four edges together, `delay`
        // ms after the last one.
        let start = bench.now
        let edges: [(Bool, Int64)] = [(true, 0), (false, 900), (true, 1000), (false, 1050)]
        bench.now = start + .milliseconds(1050 + delay)
        for (down, time) in edges { bench.feed(.buttonEdge(down: down, at: start + .milliseconds(time))) }
        bench.run(for: .seconds(3))
        #expect(bench.presses.map(\.value) == [.double])
        #expect(bench.relay.map(\.value) == [true, false])
    }

    @Test("If a deadline is handled late, the press is evaluated only after unread edges were read")
    func whoWakesLateHearsTheEdgesBeforeItJudges() {
        var bench = bench { $0.debounce = .zero }
        bench.edge(down: true)
        let start = bench.now
        bench.now = start + .milliseconds(2000)
        // The deadline is handled before the release, which happened 0.5 s after the press.
        bench.feed(.deadlineReached)
        bench.feed(.buttonEdge(down: false, at: start + .milliseconds(500)))
        bench.run(for: .seconds(1))
        #expect(bench.presses.map(\.value) == [.single])
        #expect(bench.relay.map(\.value) == [true])
        // Without an unread edge, the deadline is evaluated 5 ms later.
        bench.edge(down: true)
        bench.now = bench.now + .milliseconds(1100)
        let late = bench.now
        bench.feed(.deadlineReached)
        bench.run(for: .milliseconds(5))
        #expect(bench.presses.last == Timed((late + .milliseconds(5)).nanoseconds / 1_000_000, .long))
    }

    @Test("Bounces that are delivered late are ignored") func bouncesThatAreHeardLateAreStillBounces() {
        var bench = bench()
        let start = bench.now
        bench.now = start + .milliseconds(100)
        bench.feed(.buttonEdge(down: true, at: start))
        // The debounce time of 20 ms has passed, but the bounce at 2 ms has not been read yet.
        bench.feed(.deadlineReached)
        bench.feed(.buttonEdge(down: false, at: start + .milliseconds(2)))
        bench.run(for: .seconds(2))
        #expect(bench.recorded.isEmpty)
    }

    @Test("Edge times outside of the valid range are clamped") func timesThatCannotBeAreMovedToWhereTheyCan() {
        var bench = bench { $0.debounce = .zero }
        bench.feed(.buttonEdge(down: true, at: bench.now + .seconds(100)))
        bench.run(milliseconds: 200)
        bench.feed(.buttonEdge(down: false, at: .zero - .seconds(5)))
        bench.run(milliseconds: 1000)
        // A future time becomes now. A time before the press becomes the time of the press.
        #expect(bench.presses == [Timed(400, .single)])
    }

    @Test("A button that is down when the machine starts is ignored until its first release")
    func aContactThatIsDownFromTheStartMeansNothingUntilItWasUp() {
        var bench = bench()
        // This edge is the first release.
        bench.edge(down: false)
        bench.run(for: .seconds(60))
        #expect(bench.log.allSatisfy { !$0.action.isOfTheButton })
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.presses.count == 1)
        bench.edge(down: true)
        bench.run(for: .seconds(86_400))
        #expect(
            bench.log.count { $0.action == .factoryReset } == 1,
            "a button that is stuck for a day causes exactly one reset")
        #expect(bench.log.count { $0.action == .openPairing } == 1)
    }

    @Test("A button that is held for five seconds opens the pairing window") func heldForFiveSecondsItOpensPairing() {
        var bench = bench()
        bench.press(milliseconds: 4999)
        bench.run(for: .seconds(1))
        #expect(!bench.log.contains { $0.action == .openPairing })
        let start = bench.now.nanoseconds / 1_000_000
        bench.press(milliseconds: 5001)
        bench.run(for: .seconds(10))
        #expect(bench.log.filter { $0.action == .openPairing }.map(\.at) == [start + 5000])
        #expect(bench.presses.map(\.value) == [.long, .long] && bench.relay.isEmpty)
    }

    @Test("Random edges keep relay and reported presses consistent") func anyEdgesAtAnyTimeKeepRelayAndPressesInStep() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var bench = bench { $0.doublePressWindow = seed.isMultiple(of: 3) ? .zero : .milliseconds(300) }
            for _ in 0..<60 {
                bench.edge(down: random.chance(0.5))
                bench.run(for: random.duration(in: .zero ... .milliseconds(random.chance(0.5) ? 25 : 1400)))
            }
            bench.edge(down: false)
            bench.run(milliseconds: 3000)
            let singles = bench.presses.count { $0.value == .single }
            let doubles = bench.presses.count { $0.value == .double }
            #expect(bench.relay.count == singles + 2 * doubles, "seed \(seed)")
            #expect(bench.relay.enumerated().allSatisfy { $1.value == $0.isMultiple(of: 2) }, "seed \(seed)")
        }
    }
}

extension ApplianceMachine.Action {
    fileprivate var isOfTheButton: Bool {
        switch self {
        case .part(.setRelay), .openPairing, .setUpNetwork, .factoryReset: true
        case .record(.buttonPressed): true
        case .part, .record, .stateChanged, .commandDone, .sample, .persist: false
        }
    }
}
