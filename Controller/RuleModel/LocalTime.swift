public import ProtocolCore

/// A map from the controller's monotonic clock to the local wall clock: a list of pieces, each with a constant offset.
/// A new piece begins when daylight saving time begins or ends. A step of the system's clock requires a new value.
public struct LocalTime: Hashable, Sendable {
    /// A span of time with a constant offset between the two clocks.
    public struct Piece: Hashable, Sendable {
        /// The first instant of the piece.
        public var from: Instant
        /// Seconds to add to an instant's seconds to get local seconds since 1 January 1970, 00:00 local time.
        public var offset: Int64

        /// Creates a piece that ends where the next one begins.
        public init(from: Instant, offset: Int64) {
            self.from = from
            self.offset = offset
        }
    }

    private let pieces: [Piece]
    /// The time from a whole second of the controller's clock to the start of the wall clock's next second.
    private let phase: Duration

    /// Creates the mapping. Sorts the pieces by their first instant.
    ///
    /// - Parameters:
    ///   - pieces: the pieces, in any order.
    ///   - phase: the time from a whole second of the controller's clock to the start of the wall clock's next second.
    public init(pieces: [Piece], phase: Duration = .zero) {
        self.pieces = pieces.sorted { $0.from < $1.from }
        self.phase = phase
    }

    /// Returns the local seconds since 1 January 1970, 00:00, rounded down; nil before the first piece.
    public func second(at instant: Instant) -> Int64? {
        guard let piece = pieces.last(where: { $0.from <= instant }) else { return nil }
        return (instant - phase).wholeSeconds.saturatingSum(piece.offset)
    }

    /// Returns the local time of day; nil before the first piece.
    public func timeOfDay(at instant: Instant) -> TimeOfDay? {
        second(at: instant).flatMap { TimeOfDay(second: Int($0.remainder(86_400))) }
    }

    /// Returns the days since 1970-01-01 in the local calendar; nil before the first piece.
    public func day(at instant: Instant) -> Int64? {
        second(at: instant).map { $0 / 86_400 - ($0 % 86_400 < 0 ? 1 : 0) }
    }

    /// Returns the first instant at which the local clock shows a second. If daylight saving time skips the second,
    /// returns the first instant after the gap. Nil if the second is before the first piece.
    public func instant(of second: Int64) -> Instant? {
        for (index, piece) in pieces.enumerated() {
            let instant = Instant(seconds: second.saturatingSum(0 - max(piece.offset, -Int64.max))) + phase
            // The second lies in the gap between the previous piece and this one, or before the first piece.
            if instant < piece.from { return index == 0 ? nil : piece.from }
            if index + 1 == pieces.count || instant < pieces[index + 1].from { return instant }
        }
        return nil
    }

    /// Returns true if the local clock already showed this instant's second and was then set back.
    package func isRepetition(at instant: Instant) -> Bool {
        guard let first = second(at: instant).flatMap({ self.instant(of: $0) }) else { return false }
        return instant - first >= .seconds(1)
    }

    /// Returns the first fitting second after an instant, in the order in which the clock shows the seconds. A repeated
    /// second is visited twice, a skipped second never. Nil if no later second fits, or if `instant` is before the
    /// first piece.
    ///
    /// - Parameter fitting: returns the first fitting second at or after a local second, or nil.
    package func next(after instant: Instant, fitting: (Int64) -> Int64?) -> (instant: Instant, second: Int64)? {
        guard second(at: instant) != nil else { return nil }
        for (index, piece) in pieces.enumerated() {
            let end = index + 1 < pieces.count ? pieces[index + 1].from : nil
            if let end, end <= instant { continue }
            let start = max(instant + .nanoseconds(1), piece.from)
            func moment(_ second: Int64) -> Instant {
                Instant(seconds: second.saturatingSum(0 - max(piece.offset, -Int64.max))) + phase
            }
            var first = (start - phase).wholeSeconds.saturatingSum(piece.offset)
            if moment(first) < start { first = first.saturatingSum(1) }
            guard let second = fitting(first) else { continue }
            let due = moment(second)
            if end.map({ due < $0 }) ?? true { return (due, second) }
        }
        return nil
    }

    /// Returns the instant at which this clock shows the local time that `other` shows at `instant`. If this clock
    /// shows that time more than once, returns the instant nearest to `instant`. Nil if it never shows that time, or if
    /// `instant` is before the first piece of `other`.
    package func instant(with other: LocalTime, at instant: Instant) -> Instant? {
        guard let shown = other.pieces.last(where: { $0.from <= instant })?.offset else { return nil }
        var nearest: Instant?
        for (index, piece) in pieces.enumerated() {
            let apart = Duration.seconds(shown.saturatingSum(0 - max(piece.offset, -Int64.max)))
            let moved = instant + apart + phase - other.phase
            guard piece.from <= moved, index + 1 == pieces.count || moved < pieces[index + 1].from else { continue }
            let isNearer = nearest.map { abs(moved - instant) < abs($0 - instant) } ?? true
            if isNearer { nearest = moved }
        }
        return nearest
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

extension Int64 {
    fileprivate func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The remainder, never negative.
    fileprivate func remainder(_ divisor: Int64) -> Int64 { (self % divisor + divisor) % divisor }
}

extension Instant {
    /// The instant in seconds, rounded down.
    fileprivate var wholeSeconds: Int64 {
        nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
    }

    fileprivate init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }
}

/// A time of day on the local wall clock, in whole seconds since midnight, 0 to 86,400. The end of the day is 24:00.
public struct TimeOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since midnight, 0 to 86,400.
    public let second: Int

    /// Returns nil if the second is not within 0 to 86,400.
    public init?(second: Int) {
        guard (0...86_400).contains(second) else { return nil }
        self.second = second
    }

    /// Returns nil unless the hour is 0 to 24 and the minute 0 to 59. 24:00 is valid, later times of that hour are not.
    public init?(hour: Int, minute: Int) {
        guard (0...24).contains(hour), (0..<60).contains(minute) else { return nil }
        self.init(second: hour * 3600 + minute * 60)
    }

    /// 00:00, the start of the day.
    public static let midnight = TimeOfDay(second: 0)!
    /// 24:00, the end of the day.
    public static let endOfDay = TimeOfDay(second: 86_400)!

    /// `HH:MM`, or `HH:MM:SS` if the seconds are not zero.
    public var description: String {
        let digits = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return digits.prefix(second % 60 == 0 ? 2 : 3).joined(separator: ":")
    }

    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.second < right.second }
}

/// A daily window from `after` (included) to `before` (excluded). If `before` is earlier than `after`, the window
/// crosses midnight; ``goesOverMidnight(isEarlier:)`` lists the exceptions for sun events. If both are equal, the
/// window is the whole day.
public struct DailyWindow: Hashable, Sendable {
    /// One end of the window: a clock time, or a sun event of the day with an offset.
    public enum Point: Hashable, Sendable {
        case clock(TimeOfDay)
        /// The time of the sun event plus the offset.
        ///
        /// - Parameter offset: the delay after the sun event; negative for a time before it.
        case sun(SunEvent, offset: Duration)
    }

    /// The start of the window, included.
    public var after: Point
    /// The end of the window, excluded.
    public var before: Point

    /// Creates a window with any kind of ends.
    public init(after: Point, before: Point) {
        self.after = after
        self.before = before
    }

    /// Creates a window between two clock times.
    public init(after: TimeOfDay = .midnight, before: TimeOfDay = .endOfDay) {
        self.init(after: .clock(after), before: .clock(before))
    }

    /// Both ends, or nil if either is a sun event.
    package var clock: (after: TimeOfDay, before: TimeOfDay)? {
        guard case .clock(let after) = after, case .clock(let before) = before else { return nil }
        return (after, before)
    }

    /// Returns true if the window ends on the day after its start. A window from sunset to sunrise always does, and a
    /// window from sunrise to sunset never does. A window with one sun event ends on the next day if `isEarlier` is
    /// true and its clock time is an end at or before noon, or a start at or after noon. For any other window
    /// `isEarlier` decides.
    ///
    /// - Parameter isEarlier: true if `before` is not later than `after` on the same day.
    package func goesOverMidnight(isEarlier: Bool) -> Bool {
        let noon = TimeOfDay(second: 43_200)!
        return switch (after, before) {
        case (.sun(.sunset, _), .sun(.sunrise, _)): true
        case (.sun(.sunrise, _), .sun(.sunset, _)): false
        case (.sun, .clock(let time)): isEarlier && time <= noon
        case (.clock(let time), .sun): isEarlier && time >= noon
        case (.sun, .sun), (.clock, .clock): isEarlier
        }
    }

    /// Returns true if a window between two clock times contains the time. Equal ends contain every time.
    public static func contains(_ time: TimeOfDay, after: TimeOfDay, before: TimeOfDay) -> Bool {
        after < before ? after <= time && time < before : after <= time || time < before
    }
}
