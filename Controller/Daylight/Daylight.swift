public import Automation
public import LocalCalendar
public import ProtocolCore

/// Sunrise and sunset at a place on Earth.
public struct Daylight: Hashable, Sendable {
    /// Degrees, north and east positive.
    public let latitude: Double
    public let longitude: Double

    /// Days of one answer. It stops a span of centuries from being computed; a backtest of four years fits.
    public static let dayLimit = 1500

    /// Nil outside of the Earth: 90 degrees of latitude, 180 of longitude.
    public init?(latitude: Double, longitude: Double) {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// When the sun rises and sets on days of the local calendar, ``dayLimit`` of them at most. Of a summer night that is bright until
    /// after midnight, the sunset belongs to the day that it ends.
    ///
    /// - Parameters:
    ///   - days: since 1970-01-01 of the local calendar.
    ///   - instant: what the clock at hand shows at so many seconds since 1970, UTC; nil where it cannot tell.
    public func times(days: ClosedRange<Int64>, zone: ZoneOffsets, instant: (Int64) -> Instant?) -> SunTimes {
        SunTimes(
            days: days.prefix(Self.dayLimit).map { day in
                let (rise, set) = events(of: day, zone: zone)
                return SunTimes.Day(day: day, sunrise: rise.flatMap(instant), sunset: set.flatMap(instant))
            })
    }

    /// Seconds since 1970, UTC, of a day of the local calendar; nil where the sun does not rise, or not set, around its noon.
    func events(of day: Int64, zone: ZoneOffsets) -> (sunrise: Int64?, sunset: Int64?) {
        // The noon that lies in the local day: by the date line the day of the calendar is not the one of the longitude.
        let noon = [day - 1, day, day + 1].lazy.map { solarNoon(ofDay: Double($0)) }.first {
            let local = Int64($0.rounded()) + Int64(zone.offset(at: $0))
            return local >= day * 86_400 && local < (day + 1) * 86_400
        }
        guard let noon else { return (nil, nil) }
        return (horizon(noon, isRise: true), horizon(noon, isRise: false))
    }

    /// - Parameter day: of UTC, since 1970; the noon may lie half a day beyond it.
    private func solarNoon(ofDay day: Double) -> Double {
        let mean = day * 86_400 + 43_200 - longitude * 240
        return mean - Sun(at: mean).equationOfTime
    }

    /// The sun's position is that of the event itself, which is found from noon on in a few steps.
    private func horizon(_ noon: Double, isRise: Bool) -> Int64? {
        var time = noon
        for _ in 0..<4 {
            let sun = Sun(at: time)
            guard let angle = sun.hourAngle(latitude: latitude) else { return nil }
            let transit = noon + Sun(at: noon).equationOfTime - sun.equationOfTime
            time = transit + (isRise ? -angle : angle) * 240
        }
        return Int64(time.rounded())
    }
}
