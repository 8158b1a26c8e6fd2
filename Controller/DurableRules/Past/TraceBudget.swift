public import Automation

/// Limits the traces that are stored per rule and day. Traces are stored for more than a year, and a rule that fires at
/// each reading would otherwise fill the disk.
public struct TraceBudget: Sendable {
    /// Bytes of traces per rule and UTC day: about four thousand firings.
    public static let bytes = 4 << 20

    /// The decision on a trace.
    public enum Verdict: Hashable, Sendable {
        /// Store the trace.
        case kept
        /// Do not store the trace.
        ///
        /// - Parameter isFirst: true for the first dropped trace of the rule on this day.
        case leftOut(isFirst: Bool)
    }

    private static let dayLength: Int64 = 86_400_000
    private var day: Int64?
    private var spent: [String: Int] = [:]
    private var told: Set<String> = []
    /// The ids of firings with a stored trace, at most ``TraceRecorder/openLimit``. Later changes of these traces are
    /// stored even above the budget.
    private var begun: [String] = []

    /// Creates a budget of which nothing is spent.
    public init() {}

    /// Decides if a trace is stored.
    ///
    /// - Parameters:
    ///   - size: the trace's size in bytes.
    ///   - milliseconds: the present time, in milliseconds since 1970.
    public mutating func admit(_ trace: RuleTrace, size: Int, at milliseconds: Int64) -> Verdict {
        let today = milliseconds / Self.dayLength
        if day != today { (day, spent, told) = (today, [:], []) }
        guard begun.contains(trace.id) || spent[trace.rule, default: 0] < Self.bytes else {
            return .leftOut(isFirst: told.insert(trace.rule).inserted)
        }
        spent[trace.rule, default: 0] += size
        if !begun.contains(trace.id) {
            begun.append(trace.id)
            if begun.count > TraceRecorder.openLimit { begun.removeFirst() }
        }
        return .kept
    }
}
