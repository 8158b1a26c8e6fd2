import ApplianceSense
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
        #expect(delays[0] >= 500)
        #expect(delays[3] <= 130)
    }

    /// Returns a detector that has handled the same day as often as stated, and then another day.
    private func sense(
        after days: Int, of day: [PowerScript.Point], then last: [PowerScript.Point] = []
    ) -> ApplianceSense {
        var sense = ApplianceSense()
        for number in 0...days {
            let shift = Int64(number) * 86_400_000
            for point in number == days ? last : day { _ = sense.handle((point.milliseconds + shift, point.deciwatts)) }
        }
        return sense
    }

    /// Returns the delays of the finished events in seconds.
    private func delays(in points: [PowerScript.Point], knowing profile: ApplianceProfile) -> [Int64] {
        finished(events(in: points, learned: profile)).map { (($0.said ?? 0) - ($0.end ?? 0)) / 1000 }
    }

    @Test("A rest that resembles a learned pause is reported only when it is longer than that pause")
    func pause() {
        // The power is 0 W in a pause and between cycles, so only the programme so far distinguishes them.
        let day = level((0, 10), (400, 25), (0, 12), (100, 30), (0, 25))
        let known = sense(after: 9, of: day)
        #expect(known.profile.pauses.max() == 721)
        #expect(delays(in: day, knowing: known.profile) == [118])
        // The user stops the machine at the time of its usual pause.
        #expect(delays(in: level((0, 10), (400, 25), (0, 30)), knowing: known.profile) == [1_200])
    }

    @Test("Two loads in one cycle are learned as two programmes, and the time between them is not a pause")
    func loads() {
        let day = level((0, 10), (2_000, 20), (400, 25), (0, 25))
        let twice = level((0, 10), (2_000, 20), (400, 25), (0, 15), (2_000, 20), (400, 25), (0, 25))
        for days in [0, 6] {
            let known = sense(after: days, of: day, then: twice).profile
            #expect(known.cycles == days + 2)
            #expect(known.pauses.max() == 0)
        }
        // After the second load, "finished" comes as soon as after the first one.
        #expect(delays(in: twice, knowing: sense(after: 9, of: day).profile) == [118, 118])
    }

    @Test("A cycle in which the machine stays on does not discard the knowledge that it turns itself off")
    func staysOn() {
        let day = level((0, 10), (400, 25), (3, 2), (400, 25), (0, 25))
        let stays = level((0, 10), (400, 25), (3, 2), (400, 25), (3, 40))
        let known = sense(after: 9, of: day, then: stays)
        #expect(delays(in: day, knowing: known.profile).allSatisfy { $0 <= 90 })
    }

    @Test("A learned profile has at most 96 rests and is unchanged by a new detector")
    func size() {
        for model in ApplianceModel.allCases {
            let learned = profile(after: 20, of: model)
            #expect(learned.rests.count <= 96)
            #expect(ApplianceSense(learned: learned).profile == learned)
        }
    }

    @Test("The numbers of a rest are those that it was made of, and no other count of numbers makes a rest")
    func numbers() throws {
        let rest = try #require(ProgrammeRest(numbers: [1, 2, 3, 4, 5, 6]))
        #expect(rest.numbers == [1, 2, 3, 4, 5, 6])
        #expect(ProgrammeRest(numbers: [1, 2, 3]) == nil)
    }

    @Test("Invalid fields of a stored profile are dropped and its lists are limited")
    func aStoredProfileOfNonsenseIsNoneAtAll() throws {
        let rest = try #require(ProgrammeRest(numbers: Array(repeating: UInt16.max, count: 6)))
        var nonsense = ApplianceProfile()
        nonsense.pauses = Array(repeating: 0, count: 1_000)
        nonsense.pauseLevels = Array(repeating: 255, count: 1_000)
        nonsense.endLevel = .max
        nonsense.standbyLevel = .max
        nonsense.peakLevel = -1
        nonsense.rests = Array(repeating: rest, count: 1_000)
        nonsense.compressor = .init(runs: 1, level: 0, runMilliseconds: .min, periodMilliseconds: .max)
        let profile = ApplianceSense(learned: nonsense).profile
        #expect(profile.cycles == 16)
        #expect(profile.pauseLevels.count == 16 && profile.endLevel == nil && profile.standbyLevel == nil)
        #expect(profile.peakLevel == nil && profile.compressor == nil && profile.rests.isEmpty)
    }

    @Test("The profile of a refrigerator has the period and duty of its compressor")
    func theRefrigeratorsPeriodAndDutyAreKnown() throws {
        let compressor = try #require(profile(after: 40, of: .refrigerator).compressor)
        let runs = ApplianceModel.refrigerator.script(uses: 40, seed: 7).cycles
        let length = runs.map { $0.upperBound - $0.lowerBound }.reduce(0, +) / Int64(runs.count)
        #expect((length * 7 / 10...length * 13 / 10).contains(compressor.runMilliseconds))
        #expect((600...1_700).contains(compressor.level))
        #expect((0.15...0.6).contains(compressor.duty))
    }

    @Test("A known compressor is reported within 61 s of its start and of its stop")
    func aKnownCompressorIsToldAMinuteAfterItStartsAndTenSecondsAfterItStops() {
        var known = profile(after: 10, of: .refrigerator)
        known.compressor?.level = 1_350
        let points = level((0, 10), (135, 12), (0, 20))
        var sense = ApplianceSense(learned: known)
        var said: [Int64] = []
        for point in points where !sense.handle(point).isEmpty { said.append(point.milliseconds / 1000) }
        #expect(said == [661, 1_379])
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
