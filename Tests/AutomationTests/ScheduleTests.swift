import HouseCalendar
import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Schedules")
struct ScheduleTests {
    private static func rule(_ schedule: Schedule, late: Duration? = nil) -> Rule {
        var rule = Rule(name: "Rule", triggers: [.schedule(schedule)], actions: [.turnOff(["Lamp"])])
        if let late { rule.maximumAge = late }
        return rule
    }

    private static func daily(_ hour: Int, _ minute: Int, on days: Weekdays = .all) -> Schedule {
        .daily(TimeOfDay(hour: hour, minute: minute)!, on: days)
    }

    @Test("A time of day fires once per day, on its weekdays")
    func daily() {
        // Instant zero is a Thursday.
        var house = VirtualHouse(Self.rule(Self.daily(7, 30, on: [.friday, .saturday])))
        house.clock(7)
        house.run(to: 86_400 * 9)
        #expect(house.firings == [1, 2, 8].map { "\(Double(86_400 * $0 + 1800)) Rule" })
    }

    @Test("Two triggers of one rule that are due together fire it once, even if the timer is late")
    func together() {
        var rule = Self.rule(Self.daily(7, 30), late: .seconds(600))
        rule.triggers += [.schedule(Self.daily(7, 30, on: [.thursday])), .schedule(Self.daily(7, 31))]
        for late in [Duration.zero, .milliseconds(1), .seconds(120)] {
            var house = VirtualHouse(rule)
            house.clock(7)
            let moment = Instant.at(1800) + late
            let actions = house.engine.handle(.deadlineReached, now: moment)
            let fired = actions.count { if case .fired = $0 { true } else { false } }
            #expect(fired == (late > .seconds(60) ? 2 : 1))
        }
    }

    @Test("A clock that skips a time fires its rule, unless that is too long ago; one set back does not fire it again")
    func steps() {
        var house = VirtualHouse(Self.rule(Self.daily(7, 30)))
        house.clock(7, 29)
        house.at(
            59, .clockChanged(LocalTime(pieces: [.init(from: .at(-1e6), offset: 7 * 3600 + 29 * 60 + 3)]), .unknown))
        #expect(house.firings == ["59.0 Rule"])
        house.clock(7, 20, at: 70)
        house.run(to: 3600)
        #expect(house.firings.count == 1)
        var late = VirtualHouse(Self.rule(Self.daily(7, 30)))
        late.clock(7, 29)
        late.clock(7, 40, at: 30)
        #expect(late.firings.isEmpty && late.heldBack == ["30.0 Rule: the event is 630 s old"])
        var taken = VirtualHouse(Self.rule(Self.daily(7, 30), late: .seconds(3600)))
        taken.clock(7, 29)
        taken.clock(7, 40, at: 30)
        #expect(taken.firings == ["30.0 Rule"])
    }

    @Test("A time that a clock change skips fires at the change; a time that occurs twice fires only the first time")
    func daylightSaving() {
        // At 2:00 the clock is set forward to 3:00. At 2:00 of the next day, 25 h after instant zero, it is set back to
        // 1:00.
        let time = LocalTime(pieces: [
            .init(from: .at(-1e6), offset: 0), .init(from: .at(7200), offset: 3600),
            .init(from: .at(90_000), offset: 0),
        ])
        var house = VirtualHouse(Self.rule(Self.daily(2, 30)))
        house.at(0, .clockChanged(time, .unknown))
        house.run(to: 100_000)
        #expect(house.firings == ["7200.0 Rule", "\(26.5 * 3600) Rule"])
        // A second clockChanged event during the repeated hour does not fire the rule again.
        var twice = VirtualHouse(Self.rule(Self.daily(1, 30), late: .seconds(3600)))
        twice.at(80_000, .clockChanged(time, .unknown))
        twice.at(91_000, .clockChanged(time, .unknown))
        twice.run(to: 100_000)
        #expect(twice.firings == ["\(86_400.0 + 1800) Rule"])
    }

    private static func cron(_ minutes: UInt64, _ hours: UInt32 = 0xFF_FFFF, isWildcard: Bool) -> CronSchedule {
        CronSchedule(
            text: "", minutes: minutes, hours: hours, days: .max << 1, months: 0x1FFE, weekdays: .all,
            isWildcard: isWildcard)
    }

    private static func firings(_ cron: CronSchedule, _ pieces: [(Double, Int64)], changes: Double...) -> [Double] {
        let time = LocalTime(pieces: pieces.map { .init(from: .at($0), offset: $1) })
        var house = VirtualHouse(rule(.cron(cron), late: .seconds(3600)))
        house.at(0, .clockChanged(time, .unknown))
        for change in changes { house.at(change, .clockChanged(time, .unknown)) }
        house.run(to: 9000)
        return house.firings.compactMap { $0.split(separator: " ").first.flatMap { Double($0) } }
    }

    @Test("In a repeated hour, wildcard schedules run twice and fixed times once")
    func wildcards() {
        let quarters = Self.cron(1 | 1 << 15 | 1 << 30 | 1 << 45, isWildcard: true)
        // It is 2:00. At 3:00 the clock is set back to 2:00.
        let autumn: [(Double, Int64)] = [(-1e6, 7200), (3600, 3600)]
        #expect(Self.firings(quarters, autumn) == (1...10).map { Double($0 * 900) })
        #expect(Self.firings(quarters, autumn, changes: 1800, 3700, 5000) == (1...10).map { Double($0 * 900) })
        #expect(Self.firings(Self.cron(1, isWildcard: true), autumn) == [3600, 7200])
        #expect(Self.firings(Self.cron(1 << 30, 1 << 2, isWildcard: false), autumn, changes: 4000) == [1800])
    }

    @Test("Fixed times in a skipped hour run at the clock change, and wildcard schedules do not run for that hour")
    func leftOut() {
        // It is 1:00. At 2:00 the clock is set forward to 3:00.
        let spring: [(Double, Int64)] = [(-1e6, 3600), (3600, 7200)]
        #expect(Self.firings(Self.cron(1 << 30, 1 << 2, isWildcard: false), spring) == [3600])
        #expect(Self.firings(Self.cron(1 << 30, isWildcard: true), spring) == [1800, 5400, 9000])
    }

    @Test("Wildcard schedules continue when the clock is set back, and skip times when it is set forward")
    func wildcardSteps() {
        let quarters = Self.cron(1 | 1 << 15 | 1 << 30 | 1 << 45, isWildcard: true)
        var house = VirtualHouse(Self.rule(.cron(quarters), late: .seconds(3600)))
        house.clock(12)
        // The clock is set back by nine hours, as for a new time zone.
        house.clock(3, 0, at: 1200)
        house.clock(8, 30, at: 3000)
        house.run(to: 4000)
        #expect(house.firings == ["900.0 Rule", "1800.0 Rule", "2700.0 Rule", "3600.0 Rule"])
        #expect(house.heldBack.isEmpty)
    }

    @Test("A wildcard schedule fires only on its days and in its hours")
    func wildcardDays() {
        var weekend = Self.cron(.max >> 4, 1 << 5, isWildcard: true)
        weekend.weekdays = [.saturday]
        var house = VirtualHouse(Self.rule(.cron(weekend)))
        // Instant zero is a Thursday.
        house.clock(0)
        house.run(to: 10 * 86_400)
        #expect(house.firings.count == 120 && house.firings.first == "\(2.0 * 86_400 + 5 * 3600) Rule")
        var never = weekend
        (never.days, never.months) = (1 << 30, 1 << 2)
        #expect(
            Schedule.cron(never).next(after: .zero, LocalTime(pieces: [.init(from: .zero, offset: 0)]), .unknown) == nil
        )
    }

    @Test("A cron schedule fires in minutes that match all its fields; with `eitherDay`, day or weekday suffices")
    func cron() {
        let quarter = CronSchedule(
            text: "*/15 6 * * *", minutes: 1 | 1 << 15 | 1 << 30 | 1 << 45, hours: 1 << 6, days: .max << 1,
            months: 0x1FFE, weekdays: .all)
        var house = VirtualHouse(Self.rule(.cron(quarter)))
        house.clock(6, 10)
        house.run(to: 86_400)
        #expect(house.firings == [300, 1200, 2100, 85_800].map { "\(Double($0)) Rule" })
        var either = quarter
        either.days = 1 << 3
        either.weekdays = .monday
        #expect((0..<7).map { either.fits(day: $0) } == Array(repeating: false, count: 7))
        either.eitherDay = true
        // Day 0 is 1 January 1970. The 3rd matches the day of the month, and the 5th, a Monday, the weekday.
        #expect((0..<7).map { either.fits(day: $0) } == [false, false, true, false, true, false, false])
        var never = quarter
        (never.days, never.months) = (1 << 30, 1 << 2)
        #expect(
            Schedule.cron(never).next(after: .zero, LocalTime(pieces: [.init(from: .zero, offset: 0)]), .unknown) == nil
        )
    }

    @Test("Sun events fire with their offset, and never on a day without them")
    func sun() {
        let sun = SunTimes(days: [
            .init(day: 0, sunrise: .at(7 * 3600), sunset: .at(18 * 3600)), .init(day: 1, sunrise: nil, sunset: nil),
            .init(day: 2, sunrise: .at(55 * 3600), sunset: .at(66 * 3600)),
        ])
        var rule = Self.rule(.sun(.sunset, offset: .seconds(-1800), on: .all))
        rule.conditions = [
            .time(DailyWindow(after: .sun(.sunrise, offset: .zero), before: .sun(.sunset, offset: .zero)))
        ]
        var house = VirtualHouse(rule)
        house.clock(0, sun: sun)
        house.run(to: 4 * 86_400)
        #expect(house.firings == ["\(17.5 * 3600) Rule", "\(65.5 * 3600) Rule"])
    }

    @Test("After a restart, times that passed in the downtime are handled, and times handled before do not fire again")
    func restart() {
        var house = VirtualHouse(Self.rule(Self.daily(7, 30)))
        house.clock(7, 29)
        house.run(to: 61)
        #expect(house.firings == ["60.0 Rule"])
        house.restart()
        house.clock(7, 29, at: 62)
        house.run(to: 86_400)
        house.restart()
        house.at(86_464, .plugLost(plug: "Nobody"))
        house.clock(7, 29, at: 86_464)
        #expect(house.firings == ["60.0 Rule", "86464.0 Rule"])
    }
}
