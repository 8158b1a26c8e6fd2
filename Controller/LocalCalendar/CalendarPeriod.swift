/// What a person counts by.
public enum CalendarStep: String, CaseIterable, Hashable, Sendable {
    /// Of an hour, by which tariffs change and every time zone's offset is counted.
    case quarter
    case hour
    case day
    case month
}

extension CalendarStep {
    /// Seconds, where they are always as many.
    fileprivate var length: Int? {
        switch self {
        case .quarter: 900
        case .hour: 3600
        case .day, .month: nil
        }
    }
}

/// An hour, day or month as the clock on the wall has it: where it is set forward a day has 23 hours, where it is set back 25.
public struct CalendarPeriod: Hashable, Sendable {
    /// Seconds since 1970, UTC.
    public let from: Int
    /// The beginning of the next one.
    public let to: Int
    /// What the clock shows at its beginning.
    public let start: CivilTime

    /// Periods that a list may have: eleven years of hours, nearly three of quarters. Stops a typing error in a year from filling the memory.
    public static let limit = 100_000

    /// All that have a second with `from <= second < to`, in order and without a hole; nil beyond ``limit``.
    public static func all(_ step: CalendarStep, from: Int, to: Int, zone: ZoneOffsets) -> [CalendarPeriod]? {
        guard from < to else { return [] }
        let shortest = step.length ?? (step == .day ? 82_800 : 28 * 86_400)
        guard (to - from) / shortest <= limit else { return nil }
        // The first began before `from`, the last ends after `to`.
        let margin = step == .month ? 33 * 86_400 : 2 * 86_400
        let starts = starts(step, from: from - margin, to: to + margin, zone: zone)
        return zip(starts, starts.dropFirst()).compactMap { start, next in
            guard next > from, start < to else { return nil }
            return CalendarPeriod(from: start, to: next, start: local(start, zone))
        }
    }

    /// A day begins where a new date is seen first: not every day has a midnight, and where the clock is set back across it,
    /// one has two.
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
                    // An hour that comes twice is two.
                    case .hour, .quarter: (civil.minute * 60 + civil.second) % length == 0 ? candidate : Int.min
                    case .day: civil.daysSince1970
                    case .month: civil.year * 12 + civil.month
                    }
                guard label > newest else { continue }
                // What lies before the first boundary is cut off somewhere inside a period.
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
