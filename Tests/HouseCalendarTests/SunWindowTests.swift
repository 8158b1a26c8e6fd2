import Foundation
@testable import Automation
@testable import HouseCalendar
@testable import RuleChecks
@testable import RuleModel
import ProtocolCore
import Testing

/// A rule engine at a place with a constant offset from UTC, with the sun's times of some days.
private struct SunnyHouse {
    let engine: RuleEngine
    let offset: Int64

    init(_ latitude: Double, _ longitude: Double, hours: Int, days: ClosedRange<Int64>) throws {
        let place = try #require(Daylight(latitude: latitude, longitude: longitude))
        offset = Int64(hours * 3600)
        let sun = place.times(
            days: days.lowerBound - 4...days.upperBound + 2, zone: ZoneOffsets(initial: hours * 3600)
        ) { Instant(nanoseconds: $0 * 1_000_000_000) }
        var engine = RuleEngine(rules: [])
        let time = LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: offset)])
        _ = engine.handle(.clockChanged(time, sun), now: .zero)
        self.engine = engine
    }

    /// Returns true if the window contains this time of the day.
    /// - Parameter hour: The hours since the local midnight at which the day begins. May exceed 24.
    func holds(_ after: DailyWindow.Point, _ before: DailyWindow.Point, _ day: Int64, _ hour: Double) -> Bool {
        let second = day * 86_400 + Int64(hour * 3600) - offset
        return holds(after, before, at: second)
    }

    func holds(_ after: DailyWindow.Point, _ before: DailyWindow.Point, at second: Int64) -> Bool {
        engine.house.holds(
            .time(DailyWindow(after: after, before: before)), now: Instant(nanoseconds: second * 1_000_000_000))
    }
}

extension DailyWindow.Point {
    fileprivate static func rise(_ hours: Int = 0) -> Self { .sun(.sunrise, offset: .seconds(hours * 3600)) }
    fileprivate static func set(_ hours: Int = 0) -> Self { .sun(.sunset, offset: .seconds(hours * 3600)) }
    fileprivate static func at(_ hour: Int) -> Self { .clock(TimeOfDay(hour: hour, minute: 0)!) }
}

@Suite("Windows between sunset and sunrise")
struct SunWindowTests {
    private static func day(_ month: Int, _ day: Int) -> Int64 {
        Int64(CivilTime(year: 2026, month: month, day: day).daysSince1970)
    }

    @Test("It is dark all day in the polar night and light all day under the midnight sun")
    func polar() throws {
        let winter = Self.day(12, 20)...Self.day(12, 22)
        let dark = try SunnyHouse(69.65, 18.96, hours: 1, days: winter)
        let summer = Self.day(6, 19)...Self.day(6, 22)
        let light = try SunnyHouse(69.65, 18.96, hours: 2, days: summer)
        for minute in 0..<3 * 1440 {
            let hour = Double(minute) / 60
            #expect(dark.holds(.set(), .rise(), winter.lowerBound, hour))
            #expect(!dark.holds(.rise(), .set(), winter.lowerBound, hour))
            #expect(light.holds(.rise(), .set(), summer.lowerBound, hour))
            #expect(!light.holds(.set(), .rise(), summer.lowerBound, hour))
        }
        // A window with one end at a clock time covers the evening of a dark day.
        #expect(
            dark.holds(.set(), .at(23), winter.lowerBound, 22) && !dark.holds(.set(), .at(23), winter.lowerBound, 9))
        #expect(!light.holds(.set(), .at(23), summer.lowerBound, 22))
    }

    @Test(
        "At any place and time it is light if the sun is above the horizon, else dark",
        arguments: [-90, -78, -67, -33, 0, 51, 60, 65.5, 67, 69.65, 75, 82, 90])
    func anywhere(latitude: Double) throws {
        let days = Self.day(1, 5)...Self.day(12, 27)
        var random = SeededRandom(seed: UInt64(latitude + 100))
        for hours in [0, 9, -10] {
            let house = try SunnyHouse(latitude, Double(hours * 15), hours: hours, days: days)
            for _ in 0..<3000 {
                let second = Int64.random(in: days.lowerBound * 86_400...days.upperBound * 86_400, using: &random)
                let sun = Sun(at: Double(second))
                let solar = Double(second % 86_400) - 43_200 + Double(hours * 3600) + sun.equationOfTime
                let altitude = sun.altitude(latitude: latitude, hourAngle: solar / 240)
                guard abs(altitude + Sun.depression) > 0.5 else { continue }
                let isLight = altitude > -Sun.depression
                #expect(house.holds(.rise(), .set(), at: second) == isLight, "\(second), \(altitude)")
                #expect(house.holds(.set(), .rise(), at: second) != isLight, "\(second), \(altitude)")
            }
        }
    }

    @Test("If an offset moves an end of a window past midnight, this end keeps the date of its sunrise or sunset")
    func offsets() throws {
        let june = Self.day(6, 20)
        let berlin = try SunnyHouse(52.52, 13.405, hours: 2, days: june - 1...june + 2)
        // The sun sets at 21:33 and rises at 4:43.
        #expect(!berlin.holds(.set(3), .at(24), june, 15) && !berlin.holds(.at(0), .rise(-6), june, 15))
        #expect(berlin.holds(.set(3), .rise(), june, 25) && !berlin.holds(.set(3), .rise(), june, 24.25))
        #expect(!berlin.holds(.set(3), .rise(), june, 15) && !berlin.holds(.set(3), .rise(), june, 23))
        #expect(berlin.holds(.set(3), .at(2), june, 25) && !berlin.holds(.set(3), .at(2), june, 26))
        #expect(berlin.holds(.at(20), .set(3), june, 24.25) && !berlin.holds(.at(20), .set(3), june, 25))
        #expect(berlin.holds(.set(-1), .set(1), june, 21) && !berlin.holds(.set(-1), .set(1), june, 23))
        let december = Self.day(12, 20)
        let winter = try SunnyHouse(52.52, 13.405, hours: 1, days: december - 1...december + 1)
        // The sun sets at 15:54 and rises at 8:15.
        #expect(winter.holds(.set(3), .at(24), december, 19) && !winter.holds(.set(3), .at(24), december, 18))
        #expect(winter.holds(.at(0), .rise(-6), december, 2) && !winter.holds(.at(0), .rise(-6), december, 3))
        #expect(winter.holds(.at(17), .rise(), december, 30) && !winter.holds(.at(17), .rise(), december, 33))
    }

    @Test("A window from sunset to a time shortly before it, or from shortly after sunrise to sunrise, is empty")
    func lateSunset() throws {
        let june = Self.day(6, 20)
        let trondheim = try SunnyHouse(63.43, 10.4, hours: 2, days: june - 1...june + 1)
        // The sun sets at 23:37 and rises at 3:02.
        for hour in stride(from: 0.0, to: 24, by: 0.25) {
            #expect(!trondheim.holds(.set(), .at(23), june, hour))
            #expect(!trondheim.holds(.at(4), .rise(), june, hour))
        }
        #expect(trondheim.holds(.set(), .at(1), june, 24.5) && !trondheim.holds(.set(), .at(1), june, 25))
        let reykjavik = try SunnyHouse(64.1466, -21.9426, hours: 0, days: june - 1...june + 1)
        // The sun sets at 0:04 of the next day.
        #expect(!reykjavik.holds(.set(), .rise(), june, 24.02) && reykjavik.holds(.set(), .rise(), june, 24.2))
        #expect(!reykjavik.holds(.set(), .at(24), june, 15) && !reykjavik.holds(.set(), .at(23), june, 15))
    }

    @Test("The check warns of days without sunrise or sunset, and only at places that have such days")
    func check() throws {
        var rule = Rule(
            name: "Night", triggers: [.schedule(.sun(.sunset, offset: .zero, on: .all))], actions: [.turnOn(["Lamp"])])
        rule.conditions = [.time(DailyWindow(after: .set(), before: .rise()))]
        func findings(_ latitude: Double) throws -> [RuleFinding] {
            let place = try #require(Daylight(latitude: latitude, longitude: 18.96))
            let first = Self.day(1, 1)
            let sun = place.times(days: first...first + 364, zone: ZoneOffsets(initial: 3600)) {
                Instant(nanoseconds: $0 * 1_000_000_000)
            }
            return RuleCheck.findings([rule], in: nil, knowsSun: true, sun: sun)
        }
        let found = try findings(69.65)
        #expect(found.map(\.severity) == [.warning, .warning] && found.map(\.part) == [.trigger(0), .condition(0)])
        #expect(found[0].message.hasPrefix("the sun does not set here on "))
        #expect(found[1].message.contains(" (dark all day), and does not set here on "))
        #expect(found[1].message.hasSuffix(" (light all day)"))
        #expect(try findings(52.5) == [])
    }
}

extension Sun {
    /// Returns the altitude in degrees above the horizon.
    ///
    /// - Parameter hourAngle: The hour angle of the sun: zero at solar noon, and 15 degrees per hour after it.
    fileprivate func altitude(latitude: Double, hourAngle: Double) -> Double {
        let latitude = latitude * .pi / 180
        let sine =
            sin(latitude) * sin(declination) + cos(latitude) * cos(declination) * cos(hourAngle * .pi / 180)
        return asin(sine) * 180 / .pi
    }
}
