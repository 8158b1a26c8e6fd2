/// The length of the periods of a list.
public enum CalendarStep: String, CaseIterable, Hashable, Sendable {
    /// A quarter of an hour. Tariffs change only at quarters, and the offset of each current time zone is a multiple of
    /// a quarter.
    case quarter
    case hour
    case day
    case month
}

extension CalendarStep {
    /// Seconds; nil if the length varies.
    fileprivate var length: Int? {
        switch self {
        case .quarter: 900
        case .hour: 3600
        case .day, .month: nil
        }
    }
}

/// A quarter, hour, day or month of the local clock. A day has 23 hours if the clock is set forward, 25 if it is set
/// back.
public struct CalendarPeriod: Hashable, Sendable {
    /// Seconds since 1970, UTC.
    public let from: Int
    /// The start of the next period.
    public let to: Int
    /// The local time at the start.
    public let start: CivilTime

    /// The maximum number of periods in a list: eleven years of hours, or almost three years of quarters. Prevents a
    /// mistyped year from filling the memory.
    public static let limit = 100_000

    /// Returns all periods that overlap the range, in order and without gaps; nil if there may be more than ``limit``.
    ///
    /// - Parameters:
    ///   - from: seconds since 1970, UTC, included.
    ///   - to: seconds since 1970, UTC, excluded.
    public static func all(_ step: CalendarStep, from: Int, to: Int, zone: ZoneOffsets) -> [CalendarPeriod]? {
        guard from < to else { return [] }
        let shortest = step.length ?? (step == .day ? 82_800 : 28 * 86_400)
        guard (to - from) / shortest <= limit else { return nil }
        // The first period may start before `from`, and the last one may end after `to`.
        let margin = step == .month ? 33 * 86_400 : 2 * 86_400
        let starts = starts(step, from: from - margin, to: to + margin, zone: zone)
        return zip(starts, starts.dropFirst()).compactMap { start, next in
            guard next > from, start < to else { return nil }
            return CalendarPeriod(from: start, to: next, start: local(start, zone))
        }
    }

    /// Returns the starts of the periods in a range. A day starts at the first time with a new date. Some days have no
    /// midnight, and a clock that is set back across midnight shows it twice.
    private static func starts(_ step: CalendarStep, from: Int, to: Int, zone: ZoneOffsets) -> [Int] {
        var starts: [Int] = []
        var newest = Int.min
        for span in zone.spans(from: Double(from), to: Double(to)) {
            let length = step.length ?? 86_400
            let first = Int(span.from)
            var candidates = [first]
            var local = (floorDivide(first + span.offset, length) + 1) * length
            while local - span.offset < Int(span.to) {
                candidates.append(local - span.offset)
                local += length
            }
            for candidate in candidates {
                let civil = Self.local(candidate, zone)
                let label =
                    switch step {
                    // A repeated hour counts as two hours.
                    case .hour, .quarter: (civil.minute * 60 + civil.second) % length == 0 ? candidate : Int.min
                    case .day: civil.daysSince1970
                    case .month: civil.year * 12 + civil.month
                    }
                guard label > newest else { continue }
                // With days or months, the very first candidate is skipped, because its period started before the range.
                if newest > .min || step.length != nil { starts.append(candidate) }
                newest = label
            }
        }
        return starts
    }

    private static func local(_ second: Int, _ zone: ZoneOffsets) -> CivilTime {
        CivilTime(localSeconds: Double(second) + Double(zone.offset(at: Double(second))))
    }
}
