import Automation
import PlugModel
import ProtocolCore
import RuleModel
import Testing

@Suite("Dwell")
struct DwellTests {
    @Test("With readings every second the rule fires when the dwell ends, not later")
    func exact() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        for second in stride(from: 1.25, to: 8, by: 1) { house.read("Television", 80, at: second) }
        #expect(house.firings == ["4.25 Movie night"])
    }

    @Test("The rule fires at the end of the dwell, even between two readings")
    func betweenReadings() {
        var house = VirtualHouse(.television(dwell: .milliseconds(2500)))
        house.appear("Television", watts: 1, at: 0)
        for second in [1, 1.9, 3.1, 4] { house.read("Television", 80, at: second) }
        #expect(house.firings == ["3.5 Movie night"])
    }

    @Test("A reading at or below the threshold ends the dwell, and the next rise starts it again")
    func interrupted() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        for (second, watts) in [(1, 80), (2, 80), (3, 40), (4, 80), (5, 80), (6, 80)] as [(Double, Double)] {
            house.read("Television", watts, at: second)
        }
        #expect(house.firings.isEmpty)
        #expect(house.engine.nextDeadline == .at(7))
        house.run(to: 20)
        #expect(house.firings == ["7.0 Movie night"])
        #expect(house.engine.nextDeadline == nil)
    }

    @Test("A low reading from before the end of the dwell cancels the dwell even if it arrives after the end")
    func readingTimeDecides() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        _ = house.engine.handle(
            .reading(plug: "Television", activePower: 1, time: .at(3.9), isSnapshot: false), now: .at(4.2))
        #expect(house.engine.nextDeadline == nil)
    }

    @Test("A delayed reading completes the dwell at once, because the time of the plug's clock counts")
    func heldUp() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        house.at(2, .reading(plug: "Television", activePower: 81, time: .at(4), isSnapshot: false))
        #expect(house.firings == ["2.0 Movie night"])
    }

    @Test("Silence longer than the reading gap cancels the dwell; the next reading starts it again")
    func silence() {
        var house = VirtualHouse(.television(dwell: .seconds(8)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        #expect(house.engine.nextDeadline == .at(6))
        house.run(to: 9)
        #expect(house.firings.isEmpty)
        #expect(house.engine.nextDeadline == nil)
        for second in [10, 14, 18] as [Double] { house.read("Television", 80, at: second) }
        #expect(house.firings == ["18.0 Movie night"])
    }

    @Test("A gap between reading times restarts the dwell even if the readings arrive together")
    func gapInReadingTimes() {
        var house = VirtualHouse(.television(dwell: .seconds(8)))
        house.appear("Television", watts: 1, at: 0)
        house.at(20, .reading(plug: "Television", activePower: 80, time: .at(1), isSnapshot: false))
        house.at(20, .reading(plug: "Television", activePower: 80, time: .at(9), isSnapshot: false))
        #expect(house.firings.isEmpty)
        house.at(24, .reading(plug: "Television", activePower: 80, time: .at(13), isSnapshot: false))
        house.at(28, .reading(plug: "Television", activePower: 80, time: .at(17), isSnapshot: false))
        #expect(house.firings == ["28.0 Movie night"])
    }

    @Test("A dwell as long as the reading gap is completed by one reading")
    func boundary() {
        var house = VirtualHouse(.television(dwell: RuleEngine.readingGap))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        house.run(to: 20)
        #expect(house.firings == ["6.0 Movie night"])
    }

    @Test("A snapshot, or the loss of a plug with an unknown boot, cancels the dwell")
    func lost() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        house.at(2, .plugLost(plug: "Television"))
        #expect(house.engine.nextDeadline == nil)
        house.appear("Television", watts: 80, at: 2.5)
        for second in [3, 4, 5, 6] as [Double] { house.read("Television", 80, at: second) }
        #expect(house.firings.isEmpty)

        house.read("Television", 1, at: 7)
        house.read("Television", 80, at: 8)
        house.read("Television", 80, at: 9, isSnapshot: true)
        house.run(to: 20)
        #expect(house.firings.isEmpty)
    }

    @Test("If the controller wakes up later than the maximum age after the end of the dwell, the rule does not fire")
    func slept() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        let late = Instant.at(4) + Rule.usualMaximumAge
        var awake = house.engine
        #expect(awake.handle(.deadlineReached, now: late).count == 2)
        var asleep = house.engine
        let actions = asleep.handle(.deadlineReached, now: late + .nanoseconds(1))
        guard case .heldBack(_, .old(Rule.usualMaximumAge + .nanoseconds(1))) = actions.first, actions.count == 1
        else {
            Issue.record("\(actions)")
            return
        }
        #expect(asleep.nextDeadline == nil)
    }

    @Test("A deadline event before the end of the dwell has no effect")
    func early() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        house.at(2, .deadlineReached)
        #expect(house.firings.isEmpty)
        #expect(house.engine.nextDeadline == .at(4))
    }

    @Test("A firing at the end of a dwell contains the value of the last reading and the time of the crossing")
    func cause() {
        var house = VirtualHouse(.television(dwell: .seconds(3)))
        house.appear("Television", watts: 1, at: 0)
        house.read("Television", 80, at: 1)
        house.read("Television", 95, at: 3)
        house.run(to: 5)
        guard case .fired(let firing) = house.log.first?.action else {
            Issue.record("nothing fired")
            return
        }
        #expect(firing.time == .at(4))
        #expect(firing.cause.description == "Television rose above 40 W for 3 s (now 95 W)")
        #expect(firing.cause.value == 95 && firing.cause.since == .at(1))
    }
}
