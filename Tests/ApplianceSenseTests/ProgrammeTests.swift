import ApplianceSense
import Testing

@Suite struct ProgrammeTests {
    @Test("A cycle is reported after 20 minutes of activity, and its end after 20 minutes of rest")
    func aCycleIsCertainAfterTwentyMinutesAndOverAfterAsMuchQuiet() {
        let events = events(in: level((0, 10), (2_000, 30), (0, 30)))
        #expect(events.first == .started(.programme, start: 600_000))
        let cycle = finished(events).first
        #expect(finished(events).count == 1)
        #expect(cycle?.start == 600_000)
        #expect(cycle?.end == 2_399_000)
        #expect((3_599_000...3_601_000).contains(cycle?.said ?? 0))
        #expect(cycle?.peakDeciwatts == 20_000)
        #expect(cycle?.phases == [AppliancePhase(name: .heating, start: 600_000, end: 2_399_000)])
    }

    @Test("The energy of a cycle is the energy of its samples") func itsEnergyIsThatOfItsSamples() {
        let cycle = finished(events(in: level((0, 10), (2_000, 30), (0, 30)))).first
        // 2 kW for 1,799 s, from the first to the last sample.
        #expect(cycle?.milliwattHours == 999_444)
        #expect(cycle?.coveredMilliseconds == 1_799_000)
    }

    @Test("The time of a gap is not counted as covered, and a gap of ten minutes does not end the cycle")
    func aHoleInItHasNoEnergyAndEndsNothing() {
        let points = level((0, 10), (2_000, 40), (0, 30)).withHole(from: 25, to: 35)
        let cycles = finished(events(in: points))
        #expect(cycles.count == 1)
        #expect(cycles.first?.end == 2_999_000)
        #expect(cycles.first?.coveredMilliseconds == 1_798_000)
    }

    @Test("A pause of 19 minutes belongs to the cycle, a pause of 21 minutes ends it")
    func aPauseOfNineteenMinutesBelongsToTheCycleAndOneOfTwentyOneDoesNot() {
        let one = finished(events(in: level((0, 10), (400, 25), (3, 19), (400, 25), (0, 30))))
        #expect(one.map(\.phases).first?.map(\.name) == [.running, .soak, .running])
        #expect(one.count == 1)
        #expect(finished(events(in: level((0, 10), (400, 25), (3, 21), (400, 25), (0, 30)))).count == 2)
    }

    @Test(
        "Short or weak activity is not a programme",
        arguments: [level((0, 10), (2_000, 19), (0, 60)), level((0, 10), (290, 90), (0, 60))])
    func shortOrWeakActivityIsNoProgramme(points: [(milliseconds: Int64, deciwatts: Int32)]) {
        #expect(events(in: points) == [])
    }

    @Test("Activity after a finished event is reported as resumed, and the history has one cycle")
    func whatGoesOnAfterItWasSaidToBeFinishedIsToldAndIsOneCycleInHistory() {
        let known = profile(after: 12, of: .washingMachine)
        let points = level((0, 10), (400, 25), (0, 15), (400, 25), (0, 30))
        let events = events(in: points, learned: known)
        #expect(finished(events).count == 2)
        #expect(events.contains(.resumed(end: 2_099_000, at: 3_000_000)))
        let cycles = ApplianceSense.cycles(in: points, learned: known)
        #expect(cycles.map(\.start) == [600_000])
        #expect(cycles.map(\.end) == [4_499_000])
    }

    @Test("The first sample after a long gap ends the cycle, with the time of the last sample before the gap")
    func silenceSaysNothingAndTheNextSampleEndsWhatWasBeforeIt() {
        var sense = ApplianceSense()
        for point in level((0, 10), (2_000, 30)) { _ = sense.handle(point) }
        #expect(sense.running?.start == 600_000)
        #expect(sense.running?.end == nil)
        let cycles = finished(sense.handle((milliseconds: 36_000_000, deciwatts: 20_000)))
        #expect(cycles.map(\.end) == [2_399_000])
        #expect(cycles.map(\.said) == [36_000_000])
        #expect(sense.running == nil)
    }

    @Test("A cycle that is running at the last sample has no end") func aCycleThatTheSamplesEndInHasNoEnd() {
        let cycles = ApplianceSense.cycles(in: level((0, 10), (2_000, 30)))
        #expect(cycles.map(\.start) == [600_000])
        #expect(cycles.first?.said == nil)
        #expect(cycles.first?.end == nil)
    }

    @Test("The cycle of a washing machine has its phases in order") func aWashIsToldPhaseByPhase() {
        let script = { (minutes: ClosedRange<Int>, watts: @escaping (Int) -> Int32) in
            (minutes.lowerBound * 60..<minutes.upperBound * 60).map { (Int64($0) * 1000, watts($0) * 10) }
        }
        let tumble = { (second: Int) -> Int32 in second % 20 < 10 ? 220 : 3 }
        let points =
            script(0...5) { _ in 0 } + script(5...13, tumble) + script(13...25) { _ in 2_050 }
            + script(25...40, tumble) + script(40...46) { _ in 3 } + script(46...55, tumble)
            + script(55...60) { _ in 300 } + script(60...70) { $0 % 30 < 5 ? 80 : 3 } + script(70...100) { _ in 1 }
        let cycle = finished(events(in: points)).first
        #expect(
            cycle?.phases.map(\.name)
                == [.tumbling, .heating, .tumbling, .soak, .tumbling, .spinning, .antiCrease])
        let starts = cycle?.phases.map { Int(($0.start + 30_000) / 60_000) }
        #expect(starts == [5, 13, 25, 40, 46, 55, 60])
        #expect(cycle?.phases.last?.end == cycle?.end)
    }
}
