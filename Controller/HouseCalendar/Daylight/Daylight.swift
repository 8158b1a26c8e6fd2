public import ProtocolCore

/// Sunrise and sunset at a place on Earth.
public struct Daylight: Hashable, Sendable {
    /// Degrees, north positive.
    public let latitude: Double
    /// Degrees, east positive.
    public let longitude: Double

    /// The maximum number of days in one result, enough for a backtest of four years. Prevents a computation over
    /// centuries.
    public static let dayLimit = 1500

    /// Creates a place. Nil if the latitude is not in -90...90 or the longitude is not in -180...180.
    public init?(latitude: Double, longitude: Double) {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// Returns sunrise and sunset on at most ``dayLimit`` days of the local calendar. A sunset after midnight belongs
    /// to the day whose daylight it ends.
    ///
    /// - Parameters:
    ///   - days: the days, counted from 1970-01-01 in the local calendar.
    ///   - zone: the local time zone.
    ///   - instant: converts seconds since 1970, UTC, to the caller's clock; nil if that is impossible.
    public func times(days: ClosedRange<Int64>, zone: ZoneOffsets, instant: (Int64) -> Instant?) -> SunTimes {
        SunTimes(
            days: days.prefix(Self.dayLimit).map { day in
                guard let (solarDay, noon) = noon(of: day, zone: zone) else {
                    return SunTimes.Day(day: day, sunrise: nil, sunset: nil)
                }
                let (rise, set) = (horizon(noon, isRise: true), horizon(noon, isRise: false))
                return SunTimes.Day(
                    day: day, sunrise: rise.time.flatMap(instant), sunset: set.time.flatMap(instant),
                    lightFrom: instant(rise.time ?? nearest(rise, noon, solarDay - 1)),
                    lightUntil: instant(set.time ?? nearest(set, noon, solarDay + 1)))
            })
    }

    /// Returns the events of a day of the local calendar in seconds since 1970, UTC; nil for an event that does not
    /// happen on this day.
    func events(of day: Int64, zone: ZoneOffsets) -> (sunrise: Int64?, sunset: Int64?) {
        guard let (_, noon) = noon(of: day, zone: zone) else { return (nil, nil) }
        return (horizon(noon, isRise: true).time, horizon(noon, isRise: false).time)
    }

    /// The result for a sunrise or a sunset.
    private enum Event {
        case at(Int64)
        /// The sun stays above the horizon all day if `isLight`, else below it.
        case isMissing(isLight: Bool)

        var time: Int64? { if case .at(let time) = self { time } else { nil } }
    }

    /// Returns the limit of the daylight on a day without this event, in seconds since 1970, UTC: the middle of the
    /// night if the sun stays above the horizon, noon if it stays below.
    ///
    /// - Parameter neighbour: the previous UTC day for a sunrise, the next one for a sunset.
    private func nearest(_ event: Event, _ noon: Double, _ neighbour: Int64) -> Int64 {
        guard case .isMissing(true) = event else { return Int64(noon.rounded()) }
        // The daylight of the neighbouring day begins or ends at the same time, so consecutive days have no gap between
        // them.
        return Int64(((noon + solarNoon(ofDay: Double(neighbour))) / 2).rounded())
    }

    /// Returns the solar noon within a local day, in seconds since 1970, and its UTC day. Nil if the local day has no
    /// noon. Near the date line the calendar day differs from the UTC day.
    private func noon(of day: Int64, zone: ZoneOffsets) -> (solarDay: Int64, noon: Double)? {
        [day - 1, day, day + 1].lazy.map { ($0, solarNoon(ofDay: Double($0))) }.first { _, noon in
            let local = Int64(noon.rounded()) + Int64(zone.offset(at: noon))
            return local >= day * 86_400 && local < (day + 1) * 86_400
        }
    }

    /// Returns the solar noon of a UTC day, in seconds since 1970.
    ///
    /// - Parameter day: the UTC day, counted from 1970-01-01. Depending on the longitude, the solar noon is up to about
    ///   twelve hours before or after 12:00 UTC of this day.
    private func solarNoon(ofDay day: Double) -> Double {
        let mean = day * 86_400 + 43_200 - longitude * 240
        return mean - Sun(at: mean).equationOfTime
    }

    /// Computes the time of the event in four iterations, beginning at noon. Each iteration uses the sun's position at
    /// the previous result.
    private func horizon(_ noon: Double, isRise: Bool) -> Event {
        var time = noon
        for _ in 0..<4 {
            let sun = Sun(at: time)
            guard let angle = sun.hourAngle(latitude: latitude) else {
                return .isMissing(isLight: sun.cosine(latitude: latitude) < 0)
            }
            let transit = noon + Sun(at: noon).equationOfTime - sun.equationOfTime
            time = transit + (isRise ? -angle : angle) * 240
        }
        return .at(Int64(time.rounded()))
    }
}
