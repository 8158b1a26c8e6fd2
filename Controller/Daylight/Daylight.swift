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

    /// Seconds since 1970, UTC, of a day of the local calendar; nil where the sun does not rise, or not set, around its noon.
    func events(of day: Int64, zone: ZoneOffsets) -> (sunrise: Int64?, sunset: Int64?) {
        guard let (_, noon) = noon(of: day, zone: zone) else { return (nil, nil) }
        return (horizon(noon, isRise: true).time, horizon(noon, isRise: false).time)
    }

    /// What becomes of a sunrise or a sunset.
    private enum Event {
        case at(Int64)
        /// The sun stays above the horizon, or below it.
        case isMissing(isLight: Bool)

        var time: Int64? { if case .at(let time) = self { time } else { nil } }
    }

    /// The moment that an event comes nearest to on a day without it.
    ///
    /// - Parameter neighbour: the day of UTC whose noon is on the other side of the night.
    private func nearest(_ event: Event, _ noon: Double, _ neighbour: Int64) -> Int64 {
        guard case .isMissing(true) = event else { return Int64(noon.rounded()) }
        // Both days make the same of it, so that nothing lies between them.
        return Int64(((noon + solarNoon(ofDay: Double(neighbour))) / 2).rounded())
    }

    /// The noon that lies in a local day, and the day of UTC that it belongs to: by the date line the day of the calendar is not the one of
    /// the longitude.
    private func noon(of day: Int64, zone: ZoneOffsets) -> (solarDay: Int64, noon: Double)? {
        [day - 1, day, day + 1].lazy.map { ($0, solarNoon(ofDay: Double($0))) }.first { _, noon in
            let local = Int64(noon.rounded()) + Int64(zone.offset(at: noon))
            return local >= day * 86_400 && local < (day + 1) * 86_400
        }
    }

    /// - Parameter day: of UTC, since 1970; the noon may lie half a day beyond it.
    private func solarNoon(ofDay day: Double) -> Double {
        let mean = day * 86_400 + 43_200 - longitude * 240
        return mean - Sun(at: mean).equationOfTime
    }

    /// The sun's position is that of the event itself, which is found from noon on in a few steps.
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
