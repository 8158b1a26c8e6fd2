/// What the host's time zone does over a time: it is daylight saving that makes it more than one number.
public struct LocalOffsets: Hashable, Sendable {
    public struct Change: Hashable, Sendable {
        /// Seconds since 1970, UTC.
        public var second: Int
        /// Seconds ahead of UTC from then on.
        public var offset: Int
    }

    /// Seconds ahead of UTC at the beginning.
    public let initial: Int
    /// In the order of time.
    public let changes: [Change]

    /// No zone changes twice within it.
    private static let step = 86_400
    /// Days looked at: two centuries. A typing error in a year asks for no more.
    private static let limit = 73_000

    /// - Parameters:
    ///   - from: seconds since 1970, UTC.
    ///   - to: the end; what comes after two centuries is as it is then.
    ///   - offset: seconds ahead of UTC at a second; the host's zone, unless a test has another.
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
