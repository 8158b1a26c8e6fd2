public import Automation

/// What rules would have done in a time that was recorded.
public struct BacktestReport: Sendable {
    /// One that would have fired, and what really became of the plugs that it would have commanded.
    public struct Firing: Sendable {
        public let rule: String
        /// Milliseconds since 1970.
        public let at: Int64
        /// What was told of it.
        var notices: FiringNotices
        /// By the place of the trace's step; what is not there was not recorded.
        public var recorded: [Int: RecordedSwitching] = [:]

        /// Its words are made whenever somebody reads them: most of many firings nobody does.
        public var trace: RuleTrace { notices.trace }
    }

    /// How often each rule did what.
    public struct Count: Hashable, Sendable {
        public var firings = 0
        public var nearMisses = 0
        /// Calls of a script that failed.
        public var failures = 0
        /// Of a script: those that are more than it may command.
        public var commandsHeldBack = 0
        /// By what held it back.
        public var heldBack: [String: Int] = [:]
    }

    /// In the order of time, ``limit`` at most.
    public internal(set) var firings: [Firing] = []
    /// Edges that came and did nothing, and near misses, where they were asked for: ``limit`` at most.
    public internal(set) var asides: [RuleTrace] = []
    /// By rule, each of which is there.
    public internal(set) var counts: [String: Count] = [:]
    /// Plugs that the rules name and nobody recorded.
    public internal(set) var unrecorded: [String] = []
    /// Of the others: what of them was recorded.
    public internal(set) var coverage: [PlugCoverage] = []
    /// Milliseconds since 1970.
    public internal(set) var span: ClosedRange<Int64>

    /// So many are told one by one, so that a rule in the noise does not fill the memory; all are counted.
    public static let limit = 20_000

    init(_ rules: [Rule], span: ClosedRange<Int64>) {
        self.span = span
        for rule in rules { counts[rule.name] = Count() }
    }

    /// What is not among ``asides``, where they were asked for.
    public internal(set) var omittedAsides = 0

    /// Firings that are not among ``firings``.
    public var omitted: Int { total - firings.count }

    fileprivate var total: Int { counts.values.reduce(0) { $0 + $1.firings } }
}

/// Two reports beside each other: what another version of the rules changes.
public struct BacktestComparison: Sendable {
    /// By time.
    public var onlyHere: [BacktestReport.Firing] = []
    public var onlyThere: [BacktestReport.Firing] = []
    public var inBoth = 0
    /// Where one of the two has more firings than it lists: up to when they are compared, milliseconds since 1970.
    public var until: Int64?
    /// Firings of both that were not compared.
    public var omitted = 0

    /// Two firings of rules of the same name are the same within so many milliseconds.
    public static let tolerance: Int64 = 1000

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
