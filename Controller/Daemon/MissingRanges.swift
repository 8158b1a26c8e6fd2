/// The missing ranges of one boot of a plug, in milliseconds of its clock, newest first.
struct MissingRanges: Hashable, Sendable {
    private var ranges: [ClosedRange<Int64>]
    /// The plug's clock at the time of the query.
    private let now: Int64
    /// True if older missing ranges were cut off.
    let isCut: Bool
    /// True if ``newest(_:)`` has removed the older ranges.
    private(set) var isTail = false

    /// Stores the newest `limit` ranges. `ranges` begins with the newest.
    init(_ ranges: [ClosedRange<Int64>], now: Int64, limit: Int) {
        self.ranges = Array(ranges.prefix(limit))
        self.now = now
        isCut = ranges.count > limit
    }

    var isEmpty: Bool { ranges.isEmpty }

    /// The time from the end of the newest range until `now`.
    var age: Int64 { ranges.first.map { now - $0.upperBound } ?? .max }

    /// Returns the newest `width` milliseconds of the newest range.
    func newestPiece(_ width: Int64) -> ClosedRange<Int64>? {
        ranges.first.map { max($0.lowerBound, $0.upperBound - width + 1)...$0.upperBound }
    }

    /// Returns only the newest `width` milliseconds of the newest range.
    func newest(_ width: Int64) -> MissingRanges {
        var tail = self
        tail.ranges = newestPiece(width).map { [$0] } ?? []
        tail.isTail = true
        return tail
    }

    /// Removes a range that is no longer missing.
    mutating func fill(_ filled: ClosedRange<Int64>) {
        ranges = ranges.flatMap { hole -> [ClosedRange<Int64>] in
            guard hole.overlaps(filled) else { return [hole] }
            let above = filled.upperBound < hole.upperBound ? [filled.upperBound + 1...hole.upperBound] : []
            let below = hole.lowerBound < filled.lowerBound ? [hole.lowerBound...filled.lowerBound - 1] : []
            return above + below
        }
    }
}
