/// What is missing of one boot of a plug, in milliseconds of its clock, newest first.
struct Holes: Hashable, Sendable {
    private var ranges: [ClosedRange<Int64>]
    /// The plug's clock when they were looked for.
    private let now: Int64
    /// There are older ones that are not among these.
    let isCut: Bool
    /// Only what has come last is wanted.
    private(set) var isTail = false

    init(_ ranges: [ClosedRange<Int64>], now: Int64, limit: Int) {
        self.ranges = Array(ranges.prefix(limit))
        self.now = now
        isCut = ranges.count > limit
    }

    var isEmpty: Bool { ranges.isEmpty }

    /// How far back the newest one ends.
    var age: Int64 { ranges.first.map { now - $0.upperBound } ?? .max }

    /// The newest so many milliseconds of the newest hole.
    func newestPiece(_ width: Int64) -> ClosedRange<Int64>? {
        ranges.first.map { max($0.lowerBound, $0.upperBound - width + 1)...$0.upperBound }
    }

    /// Of these only the newest so many milliseconds.
    func newest(_ width: Int64) -> Holes {
        var tail = self
        tail.ranges = newestPiece(width).map { [$0] } ?? []
        tail.isTail = true
        return tail
    }

    mutating func fill(_ filled: ClosedRange<Int64>) {
        ranges = ranges.flatMap { hole -> [ClosedRange<Int64>] in
            guard hole.overlaps(filled) else { return [hole] }
            let above = filled.upperBound < hole.upperBound ? [filled.upperBound + 1...hole.upperBound] : []
            let below = hole.lowerBound < filled.lowerBound ? [hole.lowerBound...filled.lowerBound - 1] : []
            return above + below
        }
    }
}
