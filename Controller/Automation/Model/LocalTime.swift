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
    /// How long after a whole second of the controller's clock one of the wall clock begins.
    private let phase: Duration

    /// - Parameters:
    ///   - pieces: in any order; for the span at hand a year's transitions are two.
    ///   - phase: how long after a whole second of the controller's clock one of the wall clock begins.
    public init(pieces: [Piece], phase: Duration = .zero) {
        self.pieces = pieces.sorted { $0.from < $1.from }
        self.phase = phase
    }

    /// Local seconds since 1 January 1970, 00:00, rounded down; nil before the first piece, where nothing is known.
    public func second(at instant: Instant) -> Int64? {
        guard let piece = pieces.last(where: { $0.from <= instant }) else { return nil }
        return (instant - phase).wholeSeconds.saturatingSum(piece.offset)
    }

    /// Local time of day; nil before the first piece.
    public func timeOfDay(at instant: Instant) -> TimeOfDay? {
        second(at: instant).flatMap { TimeOfDay(second: Int($0.remainder(86_400))) }
    }

    /// Days since 1970-01-01 of the local calendar; nil before the first piece.
    public func day(at instant: Instant) -> Int64? {
        second(at: instant).map { $0 / 86_400 - ($0 % 86_400 < 0 ? 1 : 0) }
    }

    /// When the local clock shows this second: the first time, where it does so twice, and the first moment after, where it never
    /// does. Nil where nothing is known of it.
    public func instant(of second: Int64) -> Instant? {
        for (index, piece) in pieces.enumerated() {
            let instant = Instant(seconds: second.saturatingSum(0 - max(piece.offset, -Int64.max))) + phase
            // Before a piece that does not reach back to it, and after the one before: the calendar leaves it out.
            if instant < piece.from { return index == 0 ? nil : piece.from }
            if index + 1 == pieces.count || instant < pieces[index + 1].from { return instant }
        }
        return nil
    }

    /// True if the local clock showed the second of this instant before, and was then set back.
    func isRepetition(at instant: Instant) -> Bool {
        guard let first = second(at: instant).flatMap({ self.instant(of: $0) }) else { return false }
        return instant - first >= .seconds(1)
    }

    /// The first second later than an instant that fits, as the clock passes through them: one that it shows twice comes twice, one that
    /// it leaves out does not come.
    ///
    /// - Parameter fitting: the first second that fits from a local second on.
    func next(after instant: Instant, fitting: (Int64) -> Int64?) -> (instant: Instant, second: Int64)? {
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

    /// When this clock shows what another one showed then: of several moments the nearest. Nil where it never does.
    func instant(with other: LocalTime, at instant: Instant) -> Instant? {
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

    /// Never negative.
    fileprivate func remainder(_ divisor: Int64) -> Int64 { (self % divisor + divisor) % divisor }
}

extension Instant {
    /// Rounded down.
    fileprivate var wholeSeconds: Int64 {
        nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
    }

    fileprivate init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : product)
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

    /// Both ends, if neither goes by the sun.
    var clock: (after: TimeOfDay, before: TimeOfDay)? {
        guard case .clock(let after) = after, case .clock(let before) = before else { return nil }
        return (after, before)
    }

    /// True if the window ends on the day after the one on which it begins. The sun rises in the morning and sets in the evening, whatever
    /// it does on a particular day.
    ///
    /// - Parameter isEarlier: `before` is not later than `after` on the day.
    func goesOverMidnight(isEarlier: Bool) -> Bool {
        let noon = TimeOfDay(second: 43_200)!
        return switch (after, before) {
        case (.sun(.sunset, _), .sun(.sunrise, _)): true
        case (.sun(.sunrise, _), .sun(.sunset, _)): false
        case (.sun, .clock(let time)): isEarlier && time <= noon
        case (.clock(let time), .sun): isEarlier && time >= noon
        case (.sun, .sun), (.clock, .clock): isEarlier
        }
    }

    /// Of a window by the clock alone.
    public static func contains(_ time: TimeOfDay, after: TimeOfDay, before: TimeOfDay) -> Bool {
        after < before ? after <= time && time < before : after <= time || time < before
    }
}
