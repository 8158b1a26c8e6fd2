@testable import HouseCalendar
import ProtocolCore
import Testing

/// Converts seconds since 1970 (UTC) to an instant. In these tests, instants count from 1970, too.
private func wall(_ second: Int64) -> Instant? { Instant(nanoseconds: second * 1_000_000_000) }

/// A place, a day of 2024 and its sunrise and sunset in almanacs (to the minute, in local time).
struct AlmanacDay: Sendable, CustomTestStringConvertible {
    var place: String
    var latitude: Double
    var longitude: Double
    /// The offset from UTC on that day, in hours east.
    var zone: Int
    /// The number of days since 1970.
    var day: Int64
    var sunrise: String
    /// The time of sunset; hours above 23 are after midnight.
    var sunset: String

    var testDescription: String { "\(place), day \(day)" }

    static let june: Int64 = 19_895
    static let december: Int64 = 20_078

    static let all = [
        AlmanacDay("Berlin", 52.52, 13.40, +2, june, "04:43", "21:33"),
        AlmanacDay("Berlin", 52.52, 13.40, +1, december, "08:15", "15:54"),
        AlmanacDay("London", 51.5074, -0.1278, +1, june, "04:43", "21:22"),
        AlmanacDay("London", 51.5074, -0.1278, 0, december, "08:04", "15:54"),
        AlmanacDay("New York", 40.7128, -74.006, -4, june, "05:25", "20:31"),
        AlmanacDay("New York", 40.7128, -74.006, -5, december, "07:17", "16:32"),
        AlmanacDay("Sydney", -33.8688, 151.2093, +10, june, "07:00", "16:54"),
        AlmanacDay("Sydney", -33.8688, 151.2093, +11, december, "05:41", "20:06"),
        AlmanacDay("Reykjavik", 64.1466, -21.9426, 0, june, "02:55", "24:04"),
        AlmanacDay("Quito", -0.1807, -78.4678, -5, june, "06:12", "18:19"),
    ]

    init(
        _ place: String, _ latitude: Double, _ longitude: Double, _ zone: Int, _ day: Int64, _ sunrise: String,
        _ sunset: String
    ) {
        (self.place, self.latitude, self.longitude, self.zone, self.day) = (place, latitude, longitude, zone, day)
        (self.sunrise, self.sunset) = (sunrise, sunset)
    }

    /// Converts a local time of the day to seconds since 1970.
    func second(_ time: String) -> Int64 {
        let parts = time.split(separator: ":").compactMap { Int64($0) }
        return day * 86_400 + parts[0] * 3600 + parts[1] * 60 - Int64(zone) * 3600
    }
}

@Suite("Sunrise and sunset")
struct DaylightTests {
    @Test("Sunrise and sunset match almanacs to the minute", arguments: AlmanacDay.all)
    func almanac(_ entry: AlmanacDay) throws {
        let place = try #require(Daylight(latitude: entry.latitude, longitude: entry.longitude))
        let (rise, set) = place.events(of: entry.day, zone: ZoneOffsets(initial: entry.zone * 3600))
        // Almanacs round or truncate to the minute.
        #expect(abs(try #require(rise) - entry.second(entry.sunrise)) <= 60)
        #expect(abs(try #require(set) - entry.second(entry.sunset)) <= 60)
    }

    @Test("North of the polar circle some days have no sunrise or no sunset")
    func polar() throws {
        let tromso = try #require(Daylight(latitude: 69.6492, longitude: 18.9553))
        let zone = ZoneOffsets(initial: 3600)
        let days = tromso.times(days: 19_723...20_088, zone: zone, instant: wall).days
        #expect(days.count == 366)
        let dark = days.prefix { $0.sunrise == nil }
        #expect((12...18).contains(dark.count))
        #expect(days.first { $0.day == AlmanacDay.june }?.sunset == nil)
        #expect(days.first { $0.day == 19_802 }?.sunrise != nil)
        let poles = [
            try #require(Daylight(latitude: 90, longitude: 0)), try #require(Daylight(latitude: -90, longitude: 0)),
        ]
        for pole in poles {
            let times = pole.times(days: 19_800...19_801, zone: .utc, instant: wall)
            #expect(times.days.allSatisfy { $0.sunrise == nil || $0.sunset == nil || $0.sunrise != $0.sunset })
        }
    }

    @Test("Sunrise and sunset are within the local day, even if the calendar is a day ahead of the solar time")
    func dateLine() throws {
        let kiritimati = try #require(Daylight(latitude: 1.87, longitude: -157.4))
        let zone = ZoneOffsets(initial: 14 * 3600)
        for day in Int64(19_700)...20_100 {
            let (rise, set) = kiritimati.events(of: day, zone: zone)
            for event in [try #require(rise), try #require(set)] {
                #expect((event + 14 * 3600) / 86_400 == day)
            }
        }
    }

    @Test("Up to latitude 60°, sunrise moves by less than four minutes per day and precedes sunset")
    func steps() throws {
        for latitude in stride(from: -60.0, through: 60, by: 15) {
            let place = try #require(Daylight(latitude: latitude, longitude: 25))
            let days = place.times(days: 19_000...20_000, zone: ZoneOffsets(initial: 7200), instant: wall).days
            for (day, next) in zip(days, days.dropFirst()) {
                let rise = try #require(day.sunrise)
                let set = try #require(day.sunset)
                #expect(rise < set)
                let step = try #require(next.sunrise) - rise - .seconds(86_400)
                #expect(abs(step.inSeconds) < 240)
            }
        }
    }

    @Test("On the equator every day is slightly longer than its night")
    func equator() throws {
        let place = try #require(Daylight(latitude: 0, longitude: 0))
        for day in place.times(days: 19_723...20_088, zone: .utc, instant: wall).days {
            let length = try #require(day.sunset) - (try #require(day.sunrise))
            #expect((43_500...43_700).contains(length.inSeconds))
        }
    }

    @Test("An unknown clock results in no times, the number of days is limited, and invalid places are rejected")
    func bounds() throws {
        let place = try #require(Daylight(latitude: 52.52, longitude: 13.4))
        let unknown = place.times(days: 0...2, zone: .utc) { _ in nil }
        #expect(unknown.days.count == 3 && unknown.days.allSatisfy { $0.sunrise == nil && $0.sunset == nil })
        #expect(place.times(days: 0...Int64.max - 1, zone: .utc, instant: wall).days.count == Daylight.dayLimit)
        #expect(Daylight(latitude: 90.1, longitude: 0) == nil && Daylight(latitude: 0, longitude: -181) == nil)
        #expect(Daylight(latitude: .nan, longitude: 0) == nil)
    }
}
