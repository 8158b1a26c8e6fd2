import func Glibc.acos
import func Glibc.asin
import func Glibc.cos
import func Glibc.sin
import func Glibc.tan

/// The position of the sun, by the equations of NOAA's solar calculator, which follow Meeus, "Astronomical Algorithms",
/// chapters 25 and 28. Accurate to a minute for the years 1800 to 2100 and latitudes up to 72 degrees.
struct Sun {
    /// The seconds by which apparent solar time is ahead of mean solar time.
    let equationOfTime: Double
    /// Radians north of the equator.
    let declination: Double

    /// Degrees of the sun's center below the horizon at sunrise and sunset: 16' of radius and 34' of refraction.
    static let depression = 0.833

    /// Calculates the position at a time.
    ///
    /// - Parameter time: seconds since 1970, UTC.
    init(at time: Double) {
        /// Julian centuries since 2000-01-01 12:00.
        let century = (time / 86_400 + 2_440_587.5 - 2_451_545) / 36_525
        let meanLongitude = (280.46646 + century * (36_000.76983 + century * 0.0003032)).radians
        let meanAnomaly = (357.52911 + century * (35_999.05029 - 0.0001537 * century)).radians
        let eccentricity = 0.016708634 - century * (0.000042037 + 0.0000001267 * century)
        let centre =
            sin(meanAnomaly) * (1.914602 - century * (0.004817 + 0.000014 * century))
            + sin(2 * meanAnomaly) * (0.019993 - 0.000101 * century) + sin(3 * meanAnomaly) * 0.000289
        let node = (125.04 - 1934.136 * century).radians
        let apparentLongitude = meanLongitude + (centre - 0.00569 - 0.00478 * sin(node)).radians
        let meanObliquity =
            23 + (26 + (21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))) / 60) / 60
        let obliquity = (meanObliquity + 0.00256 * cos(node)).radians
        declination = asin(sin(obliquity) * sin(apparentLongitude))
        let y = tan(obliquity / 2) * tan(obliquity / 2)
        let angle =
            y * sin(2 * meanLongitude) - 2 * eccentricity * sin(meanAnomaly)
            + 4 * eccentricity * y * sin(meanAnomaly) * cos(2 * meanLongitude)
            - 0.5 * y * y * sin(4 * meanLongitude) - 1.25 * eccentricity * eccentricity * sin(2 * meanAnomaly)
        equationOfTime = angle.degrees * 240
    }

    /// The degrees that the Earth turns between noon and sunrise or sunset; nil if the sun stays above or below the
    /// horizon.
    func hourAngle(latitude: Double) -> Double? {
        let cosine = cosine(latitude: latitude)
        return abs(cosine) <= 1 ? acos(cosine).degrees : nil
    }

    /// The cosine of the hour angle: less than -1 if the sun stays above the horizon, more than 1 if it stays below.
    func cosine(latitude: Double) -> Double {
        let latitude = latitude.radians
        return cos((90 + Self.depression).radians) / (cos(latitude) * cos(declination))
            - tan(latitude) * tan(declination)
    }
}

extension Double {
    fileprivate var radians: Double { self * .pi / 180 }
    fileprivate var degrees: Double { self * 180 / .pi }
}
