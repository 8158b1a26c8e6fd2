import ApplianceSense
import ProtocolCore
import TestSupport
import Testing

@Suite struct HostileSampleTests {
    @Test(
        "Random samples and times produce ordered cycles within the memory limits", arguments: 1...40)
    func whateverComesCyclesAreInOrderAndMemoryIsBounded(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var sense = ApplianceSense()
        var time: Int64 = 0
        for _ in 0..<60_000 {
            // Most time steps are at most one minute long, or six seconds if the seed is even. A few go up to two hours
            // forward or back, or to any time.
            switch Int.random(in: 0..<20_000, using: &random) {
            case 0: time = .random(in: .min ... .max, using: &random)
            case 1: time &+= .random(in: -7_200_000...7_200_000, using: &random)
            default: time &+= .random(in: 0...60_000, using: &random) / (seed.isMultiple(of: 2) ? 10 : 1)
            }
            let level: Int32 =
                switch Int.random(in: 0..<50, using: &random) {
                case 0: .random(in: .min ... .max, using: &random)
                case 1..<10: .random(in: 0...30_000, using: &random)
                default: time / 900_000 % 3 == 0 ? 1_300 : 0
                }
            for cycle in finished(sense.handle((time, level))) {
                #expect(cycle.start <= cycle.end ?? .min)
                #expect(cycle.end ?? .max <= cycle.said ?? .min)
                #expect(cycle.phases.count <= 64)
                #expect(cycle.milliwattHours >= 0)
            }
        }
        #expect(sense.profile.pauses.count <= 16)
        #expect(sense.profile.rests.count <= 96)
        #expect(MemoryLayout<ApplianceSense>.size <= 1_000)
    }

    @Test("Repeated and late samples do not change the cycles") func samplesThatComeTwiceOrLateChangeNothing() {
        let points = ApplianceModel.washingMachine.script(uses: 2, seed: 5).points
        var noisy: [PowerScript.Point] = []
        for (index, point) in points.enumerated() {
            noisy.append(point)
            if index.isMultiple(of: 7) { noisy.append(point) }
            if index.isMultiple(of: 11), index > 5 { noisy.append((points[index - 5].milliseconds, 23_000)) }
        }
        #expect(finished(events(in: noisy)) == finished(events(in: points)))
    }

    @Test("A time that goes back discards the running cycle and keeps the learned profile")
    func aClockThatWasSetBackForgetsTheCycleButNotWhatWasLearned() {
        var sense = ApplianceSense(learned: profile(after: 5, of: .dryer))
        let learned = sense.profile
        for point in level((0, 10), (2_000, 30)) { _ = sense.handle(point) }
        #expect(sense.running != nil)
        #expect(sense.handle((milliseconds: 0, deciwatts: 0)) == [])
        #expect(sense.running == nil)
        #expect(sense.profile.pauses == learned.pauses)
    }

    @Test("The events up to a sample do not depend on later samples") func whatIsSaidNeverDependsOnWhatComesLater() {
        let points = ApplianceModel.dishwasher.script(uses: 4, seed: 6).points
        var copies: [(at: Int, sense: ApplianceSense, said: [ApplianceEvent])] = []
        var sense = ApplianceSense()
        var said: [ApplianceEvent] = []
        for (index, point) in points.enumerated() {
            if index.isMultiple(of: 5_000) { copies.append((index, sense, said)) }
            said += sense.handle(point)
        }
        // A copy of the detector reports the same events as the original. Samples of a second copy do not change them.
        for (at, copy, before) in copies {
            var going = copy
            var other = copy
            for _ in 0..<3 { _ = other.handle((points[at].milliseconds + 1, 30_000)) }
            #expect(before + points[at...].flatMap { going.handle($0) } == said)
        }
    }
}
