import PlugModel
import ProtocolCore
import RuleModel
import Testing

@Suite("Local time and windows")
struct LocalTimeTests {
    private static func time(_ hour: Int, _ minute: Int) -> TimeOfDay { TimeOfDay(hour: hour, minute: minute)! }

    @Test(
        "A window over midnight contains times before and after midnight, and not its end",
        arguments: [(16, 59, false), (17, 0, true), (23, 59, true), (0, 0, true), (1, 59, true), (2, 0, false)])
    func overMidnight(hour: Int, minute: Int, expected: Bool) {
        let window = DailyWindow(after: Self.time(17, 0), before: Self.time(2, 0))
        #expect(
            DailyWindow.contains(Self.time(hour, minute), after: Self.time(17, 0), before: Self.time(2, 0)) == expected)
        #expect(window.description == "from 17:00 to 02:00")
    }

    @Test("A window excludes its end, contains 23:59 if it ends at 24:00, and every time if it ends at its start")
    func otherWindows() {
        func isIn(_ hour: Int, _ minute: Int, _ after: TimeOfDay, _ before: TimeOfDay) -> Bool {
            DailyWindow.contains(Self.time(hour, minute), after: after, before: before)
        }
        let (eight, half) = (Self.time(8, 0), Self.time(9, 30))
        #expect(!isIn(7, 59, eight, half) && isIn(8, 0, eight, half) && !isIn(9, 30, eight, half))
        #expect(isIn(23, 59, Self.time(17, 0), .endOfDay) && !isIn(0, 0, Self.time(17, 0), .endOfDay))
        #expect(isIn(12, 0, Self.time(5, 0), Self.time(5, 0)))
    }

    @Test("Only times from 00:00 to 24:00 are valid")
    func timesOfDay() {
        #expect(TimeOfDay(hour: 24, minute: 0) == .endOfDay)
        #expect(TimeOfDay(hour: 24, minute: 1) == nil)
        #expect(TimeOfDay(hour: 12, minute: 60) == nil)
        #expect(TimeOfDay(hour: -1, minute: 0) == nil)
        #expect(TimeOfDay(second: 3661)?.description == "01:01:01")
    }

    @Test("The table returns the local time across its transitions, and nil before its first piece")
    func table() {
        // In spring, 01:59:59 is followed by 03:00:00.
        let table = LocalTime(pieces: [
            .init(from: .at(7200), offset: 3600), .init(from: .zero, offset: 0),
        ])
        #expect(table.timeOfDay(at: .at(7199.9))?.description == "01:59:59")
        #expect(table.timeOfDay(at: .at(7200))?.description == "03:00")
        #expect(table.timeOfDay(at: .at(-1)) == nil)
        let west = LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: -3600)])
        #expect(west.timeOfDay(at: .zero)?.description == "23:00")
        #expect(west.timeOfDay(at: .at(-0.5))?.description == "22:59:59")
        let extreme = LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: .max)])
        #expect(extreme.timeOfDay(at: Instant(nanoseconds: .max)) != nil)
    }

    @Test("A rule with a time window fires only in it, even after clock steps, and never while the time is unknown")
    func ruleInWindow() {
        let window = DailyWindow(after: Self.time(17, 0), before: Self.time(2, 0))
        var house = VirtualHouse(.button(if: [.time(window)], .turnOff(["Hall"])))
        house.appear("Hall", at: 0)
        house.press("Hall", 1, at: 1)
        #expect(house.firings.isEmpty)
        // Instant zero is 16:00.
        house.at(2, .clockChanged(LocalTime(pieces: [.init(from: .zero, offset: 16 * 3600)]), .unknown))
        house.press("Hall", 2, at: 3599.9)
        house.press("Hall", 3, at: 3600)
        house.press("Hall", 4, at: 9.99 * 3600)
        house.press("Hall", 5, at: 10 * 3600)
        #expect(house.firings == ["3600.0 By button", "35964.0 By button"])
        house.at(10 * 3600, .clockChanged(LocalTime(pieces: [.init(from: .zero, offset: 10 * 3600)]), .unknown))
        house.press("Hall", 6, at: 10 * 3600)
        #expect(house.firings.count == 3)
    }
}
