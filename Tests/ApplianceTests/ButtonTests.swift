import Appliance
import PlugProtocol
import ProtocolCore
import Testing

@Suite struct ButtonTests {
    /// Started, with the start's actions out of the way.
    private func bench(_ adjust: (inout ApplianceConfiguration) -> Void = { _ in }) -> Bench {
        var bench = Bench(nil, adjust)
        bench.run(milliseconds: 100)
        bench.forget()
        return bench
    }

    @Test func aShortPressSwitchesAtItsDebouncedReleaseAndIsReportedAfterTheWindow() {
        var bench = bench()
        bench.press(milliseconds: 150)
        bench.run(milliseconds: 1000)
        // Released at 250, debounced at 270; the window for a second press ends at 570.
        #expect(bench.relay == [Timed(270, true)])
        #expect(bench.presses == [Timed(570, .single)])
        #expect(bench.recorded == [.relayChanged(on: true, cause: .button), .buttonPressed(.single)])
    }

    @Test func withoutDoublePressesSingleIsReportedAtOnce() {
        var bench = bench { $0.doublePressWindow = .zero }
        bench.press(milliseconds: 150)
        bench.run(milliseconds: 100)
        bench.press(milliseconds: 50)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(270, .single), Timed(420, .single)])
        #expect(bench.relay == [Timed(270, true), Timed(420, false)])
    }

    @Test func twoPressesInTheWindowAreADoublePress() {
        var bench = bench()
        bench.press(milliseconds: 100)
        // The second begins at 510, 10 ms before the window of the first (220 + 300) ends, and is debounced after it.
        bench.run(milliseconds: 310)
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(630, .double)])
        #expect(bench.relay == [Timed(220, true), Timed(630, false)])
    }

    @Test func twoPressesFurtherApartAreTwoSinglePresses() {
        var bench = bench()
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 321)
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(520, .single), Timed(941, .single)])
    }

    @Test func aLongPressIsReportedWhileHeldAndSwitchesNothing() {
        var bench = bench()
        bench.press(milliseconds: 2500)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(1100, .long)])
        #expect(bench.relay.isEmpty)
    }

    @Test func justBelowASecondIsShort() {
        var bench = bench()
        bench.press(milliseconds: 999)
        bench.run(milliseconds: 1000)
        // The debounced release comes after the second is full, and still counts from the contact itself.
        #expect(bench.relay == [Timed(1119, true)])
        #expect(bench.presses == [Timed(1419, .single)])
    }

    @Test func aLongSecondPressLeavesTheFirstSingle() {
        var bench = bench()
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 100)
        bench.press(milliseconds: 1500)
        bench.run(milliseconds: 1000)
        #expect(bench.presses == [Timed(1300, .single), Timed(1300, .long)])
        #expect(bench.relay == [Timed(220, true)])
    }

    @Test func bouncingIsOnePress() {
        var bench = bench()
        for _ in 0..<6 {
            bench.feed(.buttonEdge(down: true))
            bench.run(milliseconds: 2)
            bench.feed(.buttonEdge(down: false))
            bench.run(milliseconds: 1)
        }
        bench.feed(.buttonEdge(down: true))
        bench.run(milliseconds: 200)
        for _ in 0..<6 {
            bench.feed(.buttonEdge(down: false))
            bench.run(milliseconds: 3)
            bench.feed(.buttonEdge(down: true))
            bench.run(milliseconds: 1)
        }
        bench.feed(.buttonEdge(down: false))
        let release = bench.now.nanoseconds / 1_000_000
        bench.run(milliseconds: 1000)
        #expect(bench.relay == [Timed(release + 20, true)])
        #expect(bench.presses == [Timed(release + 320, .single)])
    }

    @Test func aSpikeShorterThanTheDebounceTimeIsNothing() {
        var bench = bench()
        bench.press(milliseconds: 19)
        bench.run(milliseconds: 2000)
        #expect(bench.recorded.isEmpty)
        #expect(bench.relay.isEmpty)
    }

    @Test func lateWakeUpsChangeNothingButTheTime() {
        var bench = bench()
        // The shell sleeps through the press: no deadline is served between the edges.
        bench.feed(.buttonEdge(down: true))
        bench.now = bench.now + .milliseconds(400)
        bench.feed(.buttonEdge(down: false))
        bench.now = bench.now + .seconds(3)
        bench.feed(.deadlineReached)
        #expect(bench.recorded == [.relayChanged(on: true, cause: .button), .buttonPressed(.single)])
    }

    @Test func anyEdgesAtAnyTimeKeepRelayAndPressesInStep() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var bench = bench { $0.doublePressWindow = seed.isMultiple(of: 3) ? .zero : .milliseconds(300) }
            for _ in 0..<60 {
                bench.feed(.buttonEdge(down: random.chance(0.5)))
                bench.run(for: random.duration(in: .zero ... .milliseconds(random.chance(0.5) ? 25 : 1400)))
            }
            bench.feed(.buttonEdge(down: false))
            bench.run(milliseconds: 3000)
            let singles = bench.presses.count { $0.value == .single }
            let doubles = bench.presses.count { $0.value == .double }
            #expect(bench.relay.count == singles + 2 * doubles, "seed \(seed)")
            #expect(bench.relay.enumerated().allSatisfy { $1.value == $0.isMultiple(of: 2) }, "seed \(seed)")
        }
    }
}
