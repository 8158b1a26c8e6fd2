public import ProtocolCore

/// The times of sunrise and sunset on a list of days. In polar summer and winter a day may lack one or both.
public struct SunTimes: Hashable, Sendable {
    /// The sun's times on one local day.
    public struct Day: Hashable, Sendable {
        /// Days since 1970-01-01 in the local calendar.
        public var day: Int64
        /// The sunrise; nil if the sun does not rise on this day.
        public var sunrise: Instant?
        /// The sunset; nil if the sun does not set on this day.
        public var sunset: Instant?
        /// The start of daylight, for conditions: sunrise, or the time at which the sun is nearest to the horizon on a
        /// day without sunrise. That is noon in polar night, and the middle of the night under a midnight sun.
        public var lightFrom: Instant?
        /// The end of daylight, for conditions: sunset, or the time at which the sun is nearest to the horizon on a day
        /// without sunset.
        public var lightUntil: Instant?

        /// Creates a day. If `lightFrom` is nil, daylight starts at sunrise; if `lightUntil` is nil, daylight ends at
        /// sunset.
        public init(
            day: Int64, sunrise: Instant?, sunset: Instant?, lightFrom: Instant? = nil, lightUntil: Instant? = nil
        ) {
            self.day = day
            self.sunrise = sunrise
            self.sunset = sunset
            self.lightFrom = lightFrom ?? sunrise
            self.lightUntil = lightUntil ?? sunset
        }
    }

    /// The sun's times, sorted by day, each day once.
    public let days: [Day]

    /// An empty list, for a house whose location is unknown.
    public static let unknown = SunTimes(days: [])

    /// Creates the list and sorts it by day. Each day may occur only once.
    public init(days: [Day]) { self.days = days.sorted { $0.day < $1.day } }
}
