/// The offsets of the host's time zone over a period, which change with daylight saving time.
public struct LocalOffsets: Hashable, Sendable {
    /// A change of the offset.
    public struct Change: Hashable, Sendable {
        /// The time of the change in seconds since 1970, UTC.
        public var second: Int
        /// The offset from UTC in seconds from then on.
        public var offset: Int
    }

    /// The offset from UTC in seconds at the start of the period.
    public let initial: Int
    /// The changes in the order of time.
    public let changes: [Change]

    /// The step of the search in seconds: one day. No time zone changes its offset twice within a day.
    private static let step = 86_400
    /// The maximum number of days that are searched: two centuries. It bounds the search if the user mistyped a year.
    private static let limit = 73_000

    /// Searches for the changes of a period.
    ///
    /// - Parameters:
    ///   - from: the start in seconds since 1970, UTC.
    ///   - to: the end in seconds since 1970, UTC. Changes later than two centuries after the start are not found.
    ///   - offset: returns the offset from UTC at a second. The default is the host's zone.
    public init(
        from: Int, to: Int,
        offset: (Int) -> Int = { (WallTime(nanosecondsSince1970: 0) + .seconds($0)).localOffset }
    ) {
        initial = offset(from)
        var changes: [Change] = []
        var (known, current) = (from, initial)
        let end = min(to, from + Self.step * Self.limit)
        while known < end {
            let next = min(known + Self.step, end)
            let there = offset(next)
            if there != current {
                var (before, after) = (known, next)
                while after - before > 1 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == current { before = middle } else { after = middle }
                }
                changes.append(Change(second: after, offset: there))
                current = there
            }
            known = next
        }
        self.changes = changes
    }
}
