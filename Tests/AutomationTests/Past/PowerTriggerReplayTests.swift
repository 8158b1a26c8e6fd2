import ProtocolCore
import Testing

@testable import DurableRules
@testable import RuleModel

@Suite struct PowerTriggerCourseTests {
    private func course(_ watts: [(second: Int64, watts: Double)]) throws -> PowerTriggerReplay {
        let trigger = Trigger.activePower(plug: "TV", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))
        var course = try #require(
            PowerTriggerReplay(trigger, near: 900_000...1_100_000, gap: 5000, away: 120_000))
        for sample in watts { course.add(sample.second * 1000, watts: sample.watts) }
        return course
    }

    @Test("The trigger of a plug that returns above the threshold is not armed")
    func aPlugThatCameBackBeyondTheThresholdIsNotArmed() throws {
        let course = try course([(600, 1), (601, 1), (950, 90), (951, 90)])
        #expect(course.armedSince == nil && course.lastArming?.at == 601_000)
        #expect(course.lastReturn?.at == 950_000 && course.lastReturn?.after == 349_000)
    }

    @Test("The trigger of a plug that returns below the threshold is armed at its return")
    func oneThatCameBackBelowItIsArmedFromThenOn() throws {
        let course = try course([(600, 1), (950, 1), (951, 90)])
        #expect(course.armedSince == 950_000)
        #expect(course.longestStay?.from == 951_000)
    }

    @Test("A short gap interrupts a dwell and does not disarm the trigger")
    func aShortHoleInterruptsADwellAndDisarmsNothing() throws {
        let course = try course([(900, 1), (901, 90), (902, 90), (950, 90), (951, 90)])
        #expect(course.armedSince == 900_000 && course.lastReturn == nil)
        #expect(course.longestStay?.milliseconds == 1000 && course.longestStay?.from == 950_000)
    }
}
