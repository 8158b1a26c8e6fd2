public import Automation
import RuleModel

/// The effects that rules would have had in a recorded span.
public struct BacktestReport: Sendable {
    /// A firing, and how the plugs that it commands were switched in reality.
    public struct Firing: Sendable {
        /// The rule's name.
        public let rule: String
        /// The time of the firing in milliseconds since 1970.
        public let at: Int64
        /// The notices that the house would have sent about the firing.
        var notices: FiringNotices
        /// The recorded switching per step, keyed by the index of the step in the trace. A missing entry means that the
        /// step does not switch a plug, or that no switchings of its plug are recorded.
        public var recorded: [Int: RecordedSwitching] = [:]

        /// The trace of the firing. It is computed on each access, because most of the traces of a long report are
        /// never read.
        public var trace: RuleTrace { notices.trace }
    }

    /// The counts of one rule.
    public struct Count: Hashable, Sendable {
        /// The number of firings.
        public var firings = 0
        /// The number of near misses: a threshold was crossed, but the dwell ended early.
        public var nearMisses = 0
        /// The number of failed calls of a script.
        public var failures = 0
        /// The number of a script's commands and effects that were dropped because of its rate limit.
        public var commandsHeldBack = 0
        /// The number of edges that were held back, by reason.
        public var heldBack: [String: Int] = [:]
    }

    /// The firings, sorted by time, at most ``limit``.
    public internal(set) var firings: [Firing] = []
    /// Held-back edges and near misses, if the caller requested them: at most ``limit``.
    public internal(set) var asides: [RuleTrace] = []
    /// The counts by rule name, with an entry for each rule.
    public internal(set) var counts: [String: Count] = [:]
    /// The plugs that the rules name but the history does not have.
    public internal(set) var unrecorded: [String] = []
    /// The recorded part of the span for each recorded plug.
    public internal(set) var coverage: [PlugCoverage] = []
    /// The span in milliseconds since 1970.
    public internal(set) var span: ClosedRange<Int64>

    /// The maximum number of listed firings, and of listed edges without a firing. Stops a rule whose threshold is
    /// within the noise from filling the memory. All firings are counted.
    public static let limit = 20_000

    init(_ rules: [Rule], span: ClosedRange<Int64>) {
        self.span = span
        for rule in rules { counts[rule.name] = Count() }
    }

    /// The number of held-back edges and near misses that are not among ``asides``; zero if the caller did not request
    /// them.
    public internal(set) var omittedAsides = 0

    /// The number of firings that are not among ``firings``.
    public var omitted: Int { total - firings.count }

    fileprivate var total: Int { counts.values.reduce(0) { $0 + $1.firings } }
}

/// A comparison of two reports, for two versions of the rules.
public struct BacktestComparison: Sendable {
    /// The firings only in the first report, sorted by time.
    public var onlyHere: [BacktestReport.Firing] = []
    /// The firings only in the second report, sorted by time.
    public var onlyThere: [BacktestReport.Firing] = []
    /// The number of firings in both reports.
    public var inBoth = 0
    /// The end of the compared time if one of the reports does not list all its firings, in milliseconds since 1970;
    /// otherwise nil.
    public var until: Int64?
    /// The number of firings of both reports that were not compared.
    public var omitted = 0

    /// The maximum time difference, in milliseconds, at which firings of rules with the same name count as equal.
    public static let tolerance: Int64 = 1000

    /// Compares two reports.
    public init(_ here: BacktestReport, against there: BacktestReport) {
        until = [here, there].filter { $0.omitted > 0 }.compactMap { $0.firings.last?.at }.min()
        let end = until ?? .max
        func compared(_ report: BacktestReport) -> [BacktestReport.Firing] {
            report.firings.filter { $0.at <= end }
        }
        let firings = (here: compared(here), there: compared(there))
        omitted = here.total + there.total - firings.here.count - firings.there.count
        var others: [String: [BacktestReport.Firing]] = [:]
        for firing in firings.there { others[firing.rule, default: []].append(firing) }
        var nexts: [String: Int] = [:]
        for firing in firings.here {
            let (rule, at) = (firing.rule, firing.at)
            let list = others[rule] ?? []
            var next = nexts[rule] ?? 0
            while next < list.count, list[next].at < at - Self.tolerance {
                onlyThere.append(list[next])
                next += 1
            }
            if next < list.count, list[next].at <= at + Self.tolerance {
                inBoth += 1
                next += 1
            } else {
                onlyHere.append(firing)
            }
            nexts[rule] = next
        }
        for (rule, list) in others { onlyThere += list[(nexts[rule] ?? 0)...] }
        onlyThere.sort { ($0.at, $0.rule) < ($1.at, $1.rule) }
    }
}
