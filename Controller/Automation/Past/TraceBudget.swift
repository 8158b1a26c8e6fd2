/// What may be kept of each rule in a day: traces stay for more than a year, and a rule that fires at each reading would fill a disk with
/// them.
public struct TraceBudget: Sendable {
    /// Bytes of traces that are written of one rule in a day of UTC: some four thousand firings.
    public static let bytes = 4 << 20

    public enum Verdict: Hashable, Sendable {
        case kept
        /// - Parameter isFirst: of this rule on this day.
        case leftOut(isFirst: Bool)
    }

    private static let dayLength: Int64 = 86_400_000
    private var day: Int64?
    private var spent: [String: Int] = [:]
    private var told: Set<String> = []
    /// Of firings that are kept: they may go on, and are kept to their end. As many as a ``TraceBook`` knows.
    private var begun: [String] = []

    public init() {}

    /// - Parameters:
    ///   - size: bytes that are written of it.
    ///   - milliseconds: now, since 1970.
    public mutating func take(_ trace: RuleTrace, size: Int, at milliseconds: Int64) -> Verdict {
        let today = milliseconds / Self.dayLength
        if day != today { (day, spent, told) = (today, [:], []) }
        guard begun.contains(trace.id) || spent[trace.rule, default: 0] < Self.bytes else {
            return .leftOut(isFirst: told.insert(trace.rule).inserted)
        }
        spent[trace.rule, default: 0] += size
        if !begun.contains(trace.id) {
            begun.append(trace.id)
            if begun.count > TraceBook.openLimit { begun.removeFirst() }
        }
        return .kept
    }
}
