import HouseCalendar
import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

/// Tests of the trigger types without a rule engine.
@Suite struct TriggerValueTests {
    private static let place = TriggerPlace(rule: 0, place: 0)

    /// The parts of an engine with one rule and one plug.
    private struct Parts {
        var house = HouseState()
        var executor: RuleExecutor
        var actions: [RuleEngineAction] = []

        init(_ trigger: Trigger) {
            executor = RuleExecutor([Rule(name: "Rule", triggers: [trigger], actions: [.turnOff(["Heater"])])])
            _ = house.appear("Heater", PlugState(relayOn: true), boot: .first, id: nil, gap: .seconds(5))
        }

        var firings: Int { actions.count { if case .fired = $0 { true } else { false } } }
    }

    @Test("A dwell sets the deadline, and its end fires the rule once")
    func dwell() {
        let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
        var parts = Parts(.activePower(plug: "Heater", threshold))
        var power = PowerTriggers()
        power.add(PowerTrigger(Self.place, written: "Heater", shape: .threshold(threshold)))
        power.bind(&parts.house, parts.executor.rules)
        parts.house[0].meter.keep(10, time: .at(0), now: .at(0))
        power.settle(0, 10, time: .at(0), now: .at(0), &parts.house, &parts.executor, &parts.actions)
        #expect(power.deadline == nil && parts.house[0].meter.band.contains(30, time: .at(1), now: .at(1)))
        let before = parts.house[0].meter
        parts.house[0].meter.keep(50, time: .at(1), now: .at(1))
        power.follow(
            0, 50, time: .at(1), after: before, now: .at(1), &parts.house, &parts.executor, &parts.actions)
        #expect(power.deadline == .at(4) && parts.actions.isEmpty)
        #expect(power.stored(parts.executor.rules, parts.house).map(\.since) == [.at(1)])
        for second in [3.0, 4, 5] {
            power.endDwells(now: .at(second), &parts.house, &parts.executor, &parts.actions)
            #expect(parts.firings == (second < 4 ? 0 : 1))
        }
        #expect(power.deadline == nil && power.stored(parts.executor.rules, parts.house).isEmpty)
    }

    @Test("A daily schedule is due once per day, and the occurrence that was evaluated last is stored")
    func schedule() {
        let schedule = Schedule.daily(TimeOfDay(second: 3600)!, on: .all)
        var parts = Parts(.schedule(schedule))
        var schedules = ScheduleTriggers()
        schedules.add(
            ScheduleTrigger(Self.place, schedule, seed: FiringSeed("schedule", rule: "Rule", trigger: 0)))
        let utc = LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: 0)])
        parts.house.setClock(utc, .unknown)
        schedules.clockChanged(from: nil, now: .at(0), parts.house)
        #expect(schedules.deadline == .at(3600) && schedules.judgedUntil == .at(0))
        schedules.endSchedules(now: .at(3599), &parts.house, &parts.executor, &parts.actions)
        #expect(parts.firings == 0)
        schedules.endSchedules(now: .at(3600), &parts.house, &parts.executor, &parts.actions)
        #expect(parts.firings == 1 && schedules.deadline == .at(3600 + 86_400))
        #expect(schedules.stored(parts.executor.rules).map(\.number) == [3600])
    }

    @Test("A loss fires after its dwell, unless the plug returns before")
    func presence() {
        var parts = Parts(.lost(plug: "Heater", dwell: .seconds(10)))
        var presence = PresenceTriggers()
        presence.add(PresenceTrigger(Self.place, written: "Heater", isLost: true, dwell: .seconds(10)))
        presence.bind(parts.house.plugs)
        presence.wentAway(0, now: .at(1))
        #expect(presence.deadline == .at(11))
        presence.returned(0, now: .at(5))
        #expect(presence.deadline == nil)
        presence.wentAway(0, now: .at(6))
        presence.endDwells(now: .at(16), &parts.house, &parts.executor, &parts.actions)
        #expect(parts.firings == 1 && presence.deadline == nil)
    }
}
