import ApplianceSense
import Foundation
import TestSupport
import Testing

@Suite struct LearningTests {
    private func delay(of model: ApplianceModel, knowing profile: ApplianceProfile) -> Double {
        let script = model.script(uses: 1, seed: 20)
        let cycle = finished(events(in: script.points, learned: profile)).last
        return cycle.flatMap { cycle in cycle.said.map { Double($0 - (cycle.end ?? 0)) / 1000 } } ?? .infinity
    }

    @Test(
        "The delay of the finished event decreases with the number of learned cycles",
        arguments: [ApplianceModel.washingMachine, .dishwasher, .dryer])
    func theMoreCyclesItHasSeenTheSoonerItSaysFinished(model: ApplianceModel) {
        let delays = [0, 1, 3, 10].map { delay(of: model, knowing: profile(after: $0, of: model)) }
        #expect(delays == delays.sorted(by: >))
        #expect(delays[0] >= 600)
        #expect(delays[3] <= 90)
    }

    @Test("A pause that is longer than all learned pauses increases the delay of the finished event")
    func aLongerPauseThanEverLengthensTheDelay() {
        var short = ApplianceSense()
        var long = ApplianceSense()
        // The power is 0 W in a pause and between cycles, so the detector can separate them only by their duration.
        let before = level((0, 10), (400, 25), (0, 2), (400, 10), (0, 25))
        let after = level((0, 10), (400, 25), (0, 12), (400, 10), (0, 25))
        for day in 0..<10 {
            let shift = Int64(day) * 86_400_000
            for point in before { _ = short.handle((point.milliseconds + shift, point.deciwatts)) }
            for point in day == 9 ? after : before { _ = long.handle((point.milliseconds + shift, point.deciwatts)) }
        }
        #expect(short.profile.pauses.max() == 121)
        #expect(long.profile.pauses.max() == 721)
        let last = level((0, 10), (400, 40), (0, 30))
        let delays = [short, long].map { sense in
            finished(events(in: last, learned: sense.profile)).first.map { ($0.said ?? 0) - ($0.end ?? 0) } ?? 0
        }
        #expect(delays == [212_000, 1_112_000])
    }

    @Test("A learned profile takes at most 400 bytes and is unchanged after decoding")
    func whatWasLearnedCanBeStoredAndFewBytesDo() throws {
        for model in ApplianceModel.allCases {
            let learned = profile(after: 20, of: model)
            let stored = try JSONEncoder().encode(learned)
            #expect(stored.count <= 400)
            #expect(try JSONDecoder().decode(ApplianceProfile.self, from: stored) == learned)
            #expect(ApplianceSense(learned: learned).profile == learned)
        }
    }

    @Test("Invalid fields of a stored profile are dropped and its lists are limited")
    func aStoredProfileOfNonsenseIsNoneAtAll() {
        var nonsense = ApplianceProfile()
        nonsense.pauses = Array(repeating: 0, count: 1_000)
        nonsense.pauseLevels = Array(repeating: 255, count: 1_000)
        nonsense.endLevel = .max
        nonsense.standbyLevel = .max
        nonsense.peakLevel = -1
        nonsense.compressor = .init(runs: 1, level: 0, runMilliseconds: .min, periodMilliseconds: .max)
        let profile = ApplianceSense(learned: nonsense).profile
        #expect(profile.cycles == 16)
        #expect(profile.pauseLevels.count == 16 && profile.endLevel == nil && profile.standbyLevel == nil)
        #expect(profile.peakLevel == nil && profile.compressor == nil)
    }

    @Test("The profile of a refrigerator has the period and duty of its compressor")
    func theRefrigeratorsPeriodAndDutyAreKnown() throws {
        let compressor = try #require(profile(after: 40, of: .refrigerator).compressor)
        #expect((1_200...1_500).contains(compressor.level))
        #expect((600_000...1_100_000).contains(compressor.runMilliseconds))
        #expect((2_400_000...3_700_000).contains(compressor.periodMilliseconds))
        #expect((0.2...0.4).contains(compressor.duty))
    }

    @Test("A known compressor is reported within 61 s of its start and 10 s of its stop")
    func aKnownCompressorIsToldAMinuteAfterItStartsAndTenSecondsAfterItStops() {
        let known = profile(after: 10, of: .refrigerator)
        let points = level((0, 10), (135, 12), (0, 20))
        var sense = ApplianceSense(learned: known)
        var said: [Int64] = []
        for point in points where !sense.handle(point).isEmpty { said.append(point.milliseconds / 1000) }
        #expect(said == [661, 1_329])
        #expect(events(in: points, learned: known).first == .started(.compressor, start: 600_000))
    }

    @Test("A different appliance on the same plug replaces the learned profile")
    func anotherApplianceOnTheSamePlugIsLearnedAnew() {
        var sense = ApplianceSense(learned: profile(after: 20, of: .refrigerator))
        var cycles: [ApplianceCycle] = []
        for point in ApplianceModel.washingMachine.script(uses: 6, seed: 3).points {
            sense.gather(point, into: &cycles)
        }
        #expect(cycles.count { $0.kind == .programme } == 6)
        #expect(sense.profile.compressor == nil)
        for point in ApplianceModel.refrigerator.script(uses: 30, seed: 3).points {
            sense.gather((point.milliseconds + 8_640_000_000, point.deciwatts), into: &cycles)
        }
        #expect(sense.profile.compressor != nil)
    }
}
