public import Automation

/// One line of `plugctl rules backtest --json`.
public struct BacktestRecord: Codable, Hashable, Sendable {
    /// What a command would have met.
    public struct Step: Codable, Hashable, Sendable {
        public var at: String
        public var what: String
        public var plug: String?
        /// Why nothing became of it.
        public var outcome: String?
        /// When the plug was really switched so, nearest to it within ten minutes, and how many seconds after it; negative: before.
        public var recorded: String?
        public var recordedAfter: Double?
        /// journal or power: how it is known; rule: one of the rules itself commanded it then.
        public var recordedBy: String?
        /// Nobody switched it, and it was so already.
        public var wasSo: Bool?
    }

    /// firing, heldBack, nearMiss, onlyHere, onlyThere, recorded, summary, comparison, omitted.
    public var event: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String?
    public var rule: String?
    public var plug: String?
    public var cause: String?
    public var value: Double?
    /// When the threshold was crossed.
    public var since: String?
    /// heldBack, nearMiss: why nothing was done.
    public var why: String?
    public var conditions: [RuleTrace.ConditionResult]?
    public var steps: [Step]?
    /// summary: of the rule; comparison: in both.
    public var firings: Int?
    public var nearMisses: Int?
    public var heldBack: [String: Int]?
    /// summary: calls of a script that failed; left out where none did.
    public var failures: Int?
    /// summary: commands of a script that are more than it may in a minute, and left out; left out where there are none.
    public var commandsHeldBack: Int?
    /// recorded: of the plug's samples in the span the first and the last; missing where there is none.
    public var from: String?
    public var to: String?
    /// recorded: seconds between them of which there is none, and chunks that are damaged.
    public var away: Double?
    public var damaged: Int?
    /// comparison: up to when; missing where all was compared.
    public var until: String?
    /// comparison: firings that were not compared; omitted: firings that are counted and not listed.
    public var omitted: Int?
    /// omitted: edges that did nothing and are counted and not listed, where they were asked for.
    public var omittedAsides: Int?

    private init(_ event: String) { self.event = event }

    public init(_ firing: BacktestReport.Firing, _ event: String = "firing") {
        let trace = firing.trace
        self.init(event, trace)
        steps = trace.steps.enumerated().map { index, step in
            let recorded = firing.recorded[index]
            return Step(
                at: TimeWords.iso8601(step.at), what: step.what, plug: step.plug, outcome: step.outcome,
                recorded: recorded?.at.map(TimeWords.iso8601),
                recordedAfter: recorded?.at.map { Double($0 - step.at) / 1000 },
                recordedBy: recorded?.source.rawValue, wasSo: recorded.flatMap { $0.wasSo ? true : nil })
        }
    }

    private init(_ event: String, _ trace: RuleTrace) {
        self.init(event)
        (at, rule, plug, cause) = (TimeWords.iso8601(trace.at), trace.rule, trace.plug, trace.cause)
        (value, why, since) = (trace.value, trace.why, trace.since.map(TimeWords.iso8601))
        conditions = trace.conditions.isEmpty ? nil : trace.conditions
    }

    private init(_ coverage: PlugCoverage) {
        self.init("recorded")
        plug = coverage.plug
        (from, to) = (coverage.first.map(TimeWords.iso8601), coverage.last.map(TimeWords.iso8601))
        (away, damaged) = (Double(coverage.away) / 1000, coverage.damaged)
    }

    /// All that a report has to tell: firings and what did nothing, by time, then each rule's summary,
    /// and at the end how much is left out.
    public static func records(of report: BacktestReport) -> [BacktestRecord] {
        let told =
            report.firings.map { BacktestRecord($0) } + report.asides.map { BacktestRecord($0.outcome.rawValue, $0) }
        let sorted = told.enumerated().sorted { ($0.element.at ?? "", $0.offset) < ($1.element.at ?? "", $1.offset) }
        return sorted.map(\.element) + report.coverage.map { BacktestRecord($0) }
            + report.counts.sorted { $0.key < $1.key }.map { rule, count in
                var record = BacktestRecord("summary")
                (record.rule, record.firings) = (rule, count.firings)
                (record.nearMisses, record.heldBack) = (count.nearMisses, count.heldBack)
                record.failures = count.failures > 0 ? count.failures : nil
                record.commandsHeldBack = count.commandsHeldBack > 0 ? count.commandsHeldBack : nil
                return record
            } + cut(report)
    }

    private static func cut(_ report: BacktestReport) -> [BacktestRecord] {
        guard report.omitted > 0 || report.omittedAsides > 0 else { return [] }
        var record = BacktestRecord("omitted")
        (record.omitted, record.omittedAsides) = (report.omitted, report.omittedAsides)
        return [record]
    }

    public static func records(of comparison: BacktestComparison) -> [BacktestRecord] {
        var last = BacktestRecord("comparison")
        last.firings = comparison.inBoth
        last.until = comparison.until.map(TimeWords.iso8601)
        last.omitted = comparison.until.map { _ in comparison.omitted }
        return comparison.onlyHere.map { BacktestRecord($0, "onlyHere") }
            + comparison.onlyThere.map { BacktestRecord($0, "onlyThere") } + [last]
    }
}
