import HouseCalendar
import Testing

struct CalendarTests {
    @Test("Dates and seconds are converted consistently") func calendarAgreesWithItself() {
        #expect(CivilTime(localSeconds: 951_782_400).date == "29 Feb 2000")
        #expect(CivilTime(localSeconds: -1).clockWithSeconds == "23:59:59")
        #expect(CivilTime(localSeconds: -1).date == "31 Dec 1969")
        #expect(CivilTime(localSeconds: 1_795_258_800).date == "21 Nov 2026")
        for day in stride(from: -800_000, to: 800_000, by: 97) {
            let time = CivilTime(localSeconds: Double(day) * 86_400)
            #expect(time.daysSince1970 == day && (1...12).contains(time.month) && (1...31).contains(time.day))
        }
    }

    /// Central Europe in 2026: the clock goes forward on 29 March and back on 25 October, both at 01:00 UTC.
    private static let europe = ZoneOffsets(
        initial: 3600,
        transitions: [.init(time: 1_774_746_000, seconds: 7200), .init(time: 1_792_890_000, seconds: 3600)])

    @Test("A day has 23 or 25 hours when daylight saving changes") func aDayHasAsManyHoursAsTheClockGivesIt() throws {
        let march = try #require(
            CalendarPeriod.all(.day, from: 1_774_652_400, to: 1_774_908_000, zone: Self.europe))
        #expect(march.map { $0.to - $0.from } == [86_400, 82_800, 86_400])
        #expect(march.map(\.start.date) == ["28 Mar 2026", "29 Mar 2026", "30 Mar 2026"])
        let october = try #require(
            CalendarPeriod.all(.day, from: 1_792_792_800, to: 1_793_055_600, zone: Self.europe))
        #expect(october.map { $0.to - $0.from } == [86_400, 90_000, 86_400])
    }

    @Test("The repeated hour in autumn is two periods") func theHourThatComesTwiceIsTwoHours() throws {
        let night = try #require(
            CalendarPeriod.all(.hour, from: 1_792_882_800, to: 1_792_897_200, zone: Self.europe))
        #expect(night.map(\.start.clock) == ["01:00", "02:00", "02:00", "03:00"])
        #expect(night.allSatisfy { $0.to - $0.from == 3600 })
    }

    @Test("Consecutive days have no gaps even if a day has no midnight")
    func aDayWithoutAMidnightBeginsWithItsFirstSecond() throws {
        // The clock goes forward at midnight: 01:00 follows 23:59:59.
        let change = 1_774_746_000
        let zone = ZoneOffsets(
            initial: -3600, transitions: [.init(time: Double(change), seconds: 0)])
        let days = try #require(
            CalendarPeriod.all(.day, from: change - 90_000, to: change + 90_000, zone: zone))
        #expect(zip(days, days.dropFirst()).allSatisfy { $0.to == $1.from })
    }

    @Test("A repeated midnight starts only one day") func aMidnightThatComesTwiceBeginsOneDay() throws {
        // The clock goes back from 01:00 to 00:00.
        let midnight = 1_774_742_400
        let zone = ZoneOffsets(initial: 0, transitions: [.init(time: Double(midnight + 3600), seconds: -3600)])
        let days = try #require(
            CalendarPeriod.all(.day, from: midnight - 3600, to: midnight + 86_400, zone: zone))
        #expect(days.map { $0.to - $0.from } == [86_400, 90_000])
    }

    @Test("Months start at local midnight of their first day") func monthsAreWhole() throws {
        let year = try #require(
            CalendarPeriod.all(.month, from: 1_767_222_000, to: 1_798_758_000, zone: Self.europe))
        #expect(year.map(\.start.month) == Array(1...12))
        #expect(year.first?.from == 1_767_222_000 && year.last?.to == 1_798_758_000)
        #expect(year.allSatisfy { $0.start.day == 1 && $0.start.isMidnight })
    }

    @Test("A range with too many periods is rejected") func tooManyAreRefused() {
        #expect(CalendarPeriod.all(.hour, from: 0, to: 1 << 40, zone: .utc) == nil)
        #expect(CalendarPeriod.all(.hour, from: 10, to: 10, zone: .utc) == [])
    }

    @Test("Dates with and without a time of day are parsed") func aTimeIsReadAsPeopleWriteIt() throws {
        let day = try #require(CivilTime(parsing: "2026-11-20"))
        #expect(day.date == "20 Nov 2026" && day.isMidnight)
        #expect(CivilTime(parsing: "2026-11-20T07:30")?.clockWithSeconds == "07:30:00")
        #expect(CivilTime(parsing: "2024-02-29 23:59:58")?.clockWithSeconds == "23:59:58")
    }

    @Test(
        "An invalid date or time is rejected",
        arguments: [
            "", "2026", "2026-11", "2026-13-01", "2026-02-30", "2025-02-29", "26-11-20", "2026-11-20T",
            "2026-11-20T7:30",
            "2026-11-20T24:00", "2026-11-20T07:60", "2026-11-20T07:30Z", "2026-11-2\u{661}", "1969-12-31", "9999-01-01",
            "2026-11-20T07:30:61", "--", "2026-11-20  ",
        ])
    func whatIsNoTimeIsRefused(text: String) { #expect(CivilTime(parsing: text) == nil) }
}
