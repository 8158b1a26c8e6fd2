public import ProtocolCore

/// How the local wall clock runs beside the controller's monotonic clock, as a value: pieces with a constant difference.
/// A new piece begins where daylight saving time begins or ends. A step of the system's clock makes a new value.
public struct LocalTime: Hashable, Sendable {
    public struct Piece: Hashable, Sendable {
        /// The first instant at which the piece holds.
        public var from: Instant
        /// Seconds to add to an instant's own to get local seconds since 1 January 1970, 00:00 local time.
        public var offset: Int64

        public init(from: Instant, offset: Int64) {
            self.from = from
            self.offset = offset
        }
    }

    private let pieces: [Piece]

    /// Pieces in any order; for the span at hand a year's transitions are two.
    public init(pieces: [Piece]) { self.pieces = pieces.sorted { $0.from < $1.from } }

    /// Local time of day; nil before the first piece, where nothing is known.
    public func timeOfDay(at instant: Instant) -> TimeOfDay? {
        guard let piece = pieces.last(where: { $0.from <= instant }) else { return nil }
        let day: Int64 = 86_400
        // Reduced to one day before the sum, which can then not overflow.
        let whole = instant.nanoseconds / 1_000_000_000 - (instant.nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
        let second = ((whole % day + piece.offset % day) % day + day) % day
        return TimeOfDay(second: Int(second))
    }
}

/// A time of day on the local wall clock, in whole seconds since midnight, 0 to 86,400; the end of the day is 24:00.
public struct TimeOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let second: Int

    /// Nil outside 0 to 86,400.
    public init?(second: Int) {
        guard (0...86_400).contains(second) else { return nil }
        self.second = second
    }

    /// Nil unless hour and minute exist on a clock; 24:00 does.
    public init?(hour: Int, minute: Int) {
        guard (0...24).contains(hour), (0..<60).contains(minute) else { return nil }
        self.init(second: hour * 3600 + minute * 60)
    }

    public static let midnight = TimeOfDay(second: 0)!
    public static let endOfDay = TimeOfDay(second: 86_400)!

    /// `HH:MM`, with seconds only where there are any.
    public var description: String {
        let digits = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return digits.prefix(second % 60 == 0 ? 2 : 3).joined(separator: ":")
    }

    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.second < right.second }
}

/// A window of each day, from `after` (included) to `before` (not included). Where `before` is the earlier of the two, the
/// window goes over midnight; where they are equal, it is the whole day.
public struct DailyWindow: Hashable, Sendable {
    /// An end of the window: by the clock, or by the sun of that day.
    public enum Point: Hashable, Sendable {
        case clock(TimeOfDay)
        /// - Parameter offset: after the sun's event; negative: before it.
        case sun(SunEvent, offset: Duration)
    }

    public var after: Point
    public var before: Point

    public init(after: Point, before: Point) {
        self.after = after
        self.before = before
    }

    public init(after: TimeOfDay = .midnight, before: TimeOfDay = .endOfDay) {
        self.init(after: .clock(after), before: .clock(before))
    }

    /// Of a window by the clock alone.
    public static func contains(_ time: TimeOfDay, after: TimeOfDay, before: TimeOfDay) -> Bool {
        after < before ? after <= time && time < before : after <= time || time < before
    }
}
