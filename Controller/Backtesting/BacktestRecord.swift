public import Automation

/// One line of `plugctl rules backtest --json`. If a comment begins with kinds of lines, such as `summary:`, only lines
/// of these kinds have the property. A property that is nil is missing from the line.
public struct BacktestRecord: Codable, Hashable, Sendable {
    /// A step of a firing, with the recorded switching that is nearest to its command.
    public struct Step: Codable, Hashable, Sendable {
        /// The time of the step: ISO 8601, UTC, with milliseconds.
        public var at: String
        /// The step as text.
        public var what: String
        /// The commanded plug; missing for steps without one.
        public var plug: String?
        /// The result, if the step did not succeed; missing otherwise.
        public var outcome: String?
        /// The time at which the plug was really switched the same way, at most ten minutes before or after the step:
        /// ISO 8601, UTC. Missing if no such switching is recorded.
        public var recorded: String?
        /// Seconds from the step to `recorded`; negative if the plug was switched before the step.
        public var recordedAfter: Double?
        /// The source of `recorded`: journal, power, or rule if a command of one of the rules caused the switching.
        public var recordedBy: String?
        /// True if the plug already had the commanded state and was not switched in the ten minutes before or after;
        /// missing otherwise.
        public var wasSo: Bool?
    }

    /// The kind of the line: firing, heldBack, nearMiss, onlyHere, onlyThere, recorded, summary, comparison, omitted.
    public var event: String
    /// The time of the edge: ISO 8601, UTC, with milliseconds. Missing for lines without an edge.
    public var at: String?
    /// The rule's name.
    public var rule: String?
    /// The plug whose event or power is the cause; recorded: the plug whose samples the line describes.
    public var plug: String?
    /// The cause as text.
    public var cause: String?
    /// The measured value of the cause: watts for power, watt-hours for energy. Missing if the cause has no value.
    public var value: Double?
    /// The time at which the threshold was crossed, the plug was lost or returned, or the appliance's cycle began or
    /// ended: ISO 8601, UTC.
    public var since: String?
    /// heldBack, nearMiss: the reason why the rule did not fire.
    public var why: String?
    /// The conditions of the rule and whether they held.
    public var conditions: [RuleTrace.ConditionResult]?
    /// firing, onlyHere, onlyThere: the steps.
    public var steps: [Step]?
    /// summary: the number of the rule's firings; comparison: the number of firings that are in both reports.
    public var firings: Int?
    /// summary: the number of the rule's near misses.
    public var nearMisses: Int?
    /// summary: edges that were held back, counted by reason.
    public var heldBack: [String: Int]?
    /// summary: the number of failed calls of a script; missing if no call failed.
    public var failures: Int?
    /// summary: the number of a script's commands and effects that were dropped because of the script's rate limit;
    /// missing if none was dropped.
    public var commandsHeldBack: Int?
    /// recorded: the time of the plug's first sample in the span; missing without samples.
    public var from: String?
    /// recorded: the time of the plug's last sample in the span; missing without samples.
    public var to: String?
    /// recorded: the seconds between `from` and `to` in which the plug was absent.
    public var away: Double?
    /// recorded: the number of damaged chunks.
    public var damaged: Int?
    /// comparison: the end of the compared time; missing if everything was compared.
    public var until: String?
    /// comparison: the number of firings that were not compared; omitted: the number of firings that are counted but
    /// not listed.
    public var omitted: Int?
    /// omitted: the number of held-back edges and near misses that are counted but not listed; zero if they were not
    /// requested.
    public var omittedAsides: Int?

    private init(_ event: String) { self.event = event }

    /// Creates the line of a firing.
    public init(_ firing: BacktestReport.Firing, _ event: String = "firing") {
        let trace = firing.trace
        self.init(event, trace)
        steps = trace.steps.enumerated().map { index, step in
            let recorded = firing.recorded[index]
            return Step(
                at: TimeFormat.iso8601(step.at), what: step.what, plug: step.plug, outcome: step.outcome,
                recorded: recorded?.at.map(TimeFormat.iso8601),
                recordedAfter: recorded?.at.map { Double($0 - step.at) / 1000 },
                recordedBy: recorded?.source.rawValue, wasSo: recorded.flatMap { $0.wasSo ? true : nil })
        }
    }

    private init(_ event: String, _ trace: RuleTrace) {
        self.init(event)
        (at, rule, plug, cause) = (TimeFormat.iso8601(trace.at), trace.rule, trace.plug, trace.cause)
        (value, why, since) = (trace.value, trace.why, trace.since.map(TimeFormat.iso8601))
        conditions = trace.conditions.isEmpty ? nil : trace.conditions
    }

    private init(_ coverage: PlugCoverage) {
        self.init("recorded")
        plug = coverage.plug
        (from, to) = (coverage.first.map(TimeFormat.iso8601), coverage.last.map(TimeFormat.iso8601))
        (away, damaged) = (Double(coverage.away) / 1000, coverage.damaged)
    }

    /// Returns the lines of a report: firings, held-back edges and near misses, sorted by time; then the coverage of
    /// each plug, the summary of each rule, and the number of omitted entries.
    ///
    /// - Parameter limit: The maximum number of firings that are listed, the first ones; the others are counted.
    public static func records(of report: BacktestReport, limit: Int = .max) -> [BacktestRecord] {
        let told =
            report.firings.prefix(limit).map { BacktestRecord($0) }
            + report.asides.map { BacktestRecord($0.outcome.rawValue, $0) }
        let sorted = told.enumerated().sorted { ($0.element.at ?? "", $0.offset) < ($1.element.at ?? "", $1.offset) }
        return sorted.map(\.element) + report.coverage.map { BacktestRecord($0) }
            + report.counts.sorted { $0.key < $1.key }.map { rule, count in
                var record = BacktestRecord("summary")
                (record.rule, record.firings) = (rule, count.firings)
                (record.nearMisses, record.heldBack) = (count.nearMisses, count.heldBack)
                record.failures = count.failures > 0 ? count.failures : nil
                record.commandsHeldBack = count.commandsHeldBack > 0 ? count.commandsHeldBack : nil
                return record
            } + cut(report, limit)
    }

    private static func cut(_ report: BacktestReport, _ limit: Int) -> [BacktestRecord] {
        let omitted = report.omitted + max(0, report.firings.count - limit)
        guard omitted > 0 || report.omittedAsides > 0 else { return [] }
        var record = BacktestRecord("omitted")
        (record.omitted, record.omittedAsides) = (omitted, report.omittedAsides)
        return [record]
    }

    /// Returns the lines of a comparison: the firings in only one of the reports, and a summary at the end.
    public static func records(of comparison: BacktestComparison) -> [BacktestRecord] {
        var last = BacktestRecord("comparison")
        last.firings = comparison.inBoth
        last.until = comparison.until.map(TimeFormat.iso8601)
        last.omitted = comparison.until.map { _ in comparison.omitted }
        return comparison.onlyHere.map { BacktestRecord($0, "onlyHere") }
            + comparison.onlyThere.map { BacktestRecord($0, "onlyThere") } + [last]
    }
}
