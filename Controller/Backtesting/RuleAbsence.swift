public import Automation
import DurableRules
import HouseCalendar
import PlugModel
public import PowerHistory
public import RuleModel

/// Explains from the recorded history why a rule did nothing at a given time. Contains the state of each trigger and
/// condition at that time.
public struct RuleAbsence: Codable, Hashable, Sendable {
    /// A trigger, and the known facts about it at that time.
    public struct TriggerState: Codable, Hashable, Sendable {
        /// The trigger as text.
        public var trigger: String
        /// Sentences about the trigger.
        public var facts: [String] = []
    }

    /// The rule's name.
    public var rule: String
    /// The time at which the rule did nothing, in milliseconds since 1970.
    public var at: Int64
    /// One element per trigger of the rule.
    public var triggers: [TriggerState] = []
    /// The conditions and whether they held at that time.
    public var conditions: [RuleTrace.ConditionResult] = []
    /// The traces of the current version of the rule on the recorded samples, within ``near`` of ``at``.
    public var wouldHave: [RuleTrace] = []

    /// The tolerance before and after ``at``: two minutes in milliseconds.
    public static let near: Int64 = 120_000
    /// The length of the recorded time before ``at`` on which the rule runs, so that its triggers can arm: six hours in
    /// milliseconds.
    public static let arming: Int64 = 6 * 3_600_000
}

extension PastHouse {
    /// Explains why a rule did nothing.
    ///
    /// - Parameters:
    ///   - rule: The current version of the rule.
    ///   - others: The other rules, which may trigger it.
    ///   - time: The time at which the rule did nothing, in milliseconds since 1970.
    /// - Throws: ``HistoryError``.
    public func absence(of rule: Rule, among others: [Rule], at time: Int64) throws(HistoryError) -> RuleAbsence {
        var absence = RuleAbsence(rule: rule.name, at: time)
        let span = time - RuleAbsence.arming...time + RuleAbsence.near
        let needsOthers = rule.triggers.contains { if case .rule = $0 { true } else { false } }
        let probes = Probes(rule, at: time, zone)
        let beside = needsOthers ? others.filter { $0.name != rule.name } : []
        let report = try run([rule] + beside + probes.rules, over: span, tellsAsides: true)
        let near = time - RuleAbsence.near...time + RuleAbsence.near
        let told = report.firings.map(\.trace) + report.asides
        absence.wouldHave = told.filter { $0.rule == rule.name && near.contains($0.at) }
        absence.conditions = told.last { $0.rule == probes.conditions }?.conditions ?? []
        let known = try history.plugs()
        for (index, trigger) in rule.triggers.enumerated() {
            var state = RuleAbsence.TriggerState(trigger: "\(trigger)")
            if let plug = trigger.plug {
                guard let found = Self.find(plug, among: known, over: span) else {
                    state.facts = ["\(plug) has no recorded samples"]
                    absence.triggers.append(state)
                    continue
                }
                state.facts = try power(trigger, of: found, span, near)
            }
            let met = told.filter { $0.rule == probes.triggers[index] && $0.outcome == .fired }
            if let last = met.last(where: { $0.at <= near.upperBound }) {
                state.facts.append("it was last met at \(TimeFormat.local(last.at, zone)): \(last.cause)")
            } else {
                state.facts.append("it was not met in the \(TimeFormat.span(RuleAbsence.arming)) before")
            }
            absence.triggers.append(state)
        }
        return absence
    }

    /// Returns facts about a power trigger: whether it was armed, and how near the power was to its threshold.
    private func power(
        _ trigger: Trigger, of plug: HistoryPlug, _ span: ClosedRange<Int64>, _ near: ClosedRange<Int64>
    ) throws(HistoryError) -> [String] {
        let pace = SamplePace()
        guard var course = PowerTriggerReplay(trigger, near: near, gap: pace.gap, away: pace.away) else { return [] }
        var recorded = PacedSamples(try history.cursor(of: plug.id, from: span.lowerBound, to: span.upperBound))
        while let (samples, pace) = try recorded.piece() {
            (course.gap, course.away) = (pace.gap, pace.away)
            for sample in samples { course.add(sample.milliseconds, watts: sample.activePower) }
        }
        guard let first = course.first else {
            return ["\(plug.title) has no recorded samples after \(TimeFormat.local(span.lowerBound, zone))"]
        }
        var facts: [String] = []
        if let since = course.armedSince {
            facts.append("armed since \(TimeFormat.local(since, zone)): the power was \(course.armingWords)")
        } else if let back = course.lastReturn, course.lastArming.map({ $0.at < back.at }) ?? true {
            facts.append(
                "not armed: \(plug.title) returned at \(TimeFormat.local(back.at, zone)) after \(TimeFormat.span(back.after)) "
                    + "without samples, and the power has not been \(course.armingWords) since")
        } else {
            let since = course.lastArming?.at ?? first
            facts.append(
                "not armed: the power had not been \(course.armingWords) since \(TimeFormat.local(since, zone))")
        }
        guard let greatest = course.greatest, let least = course.least else {
            return facts + ["\(plug.title) has no recorded samples within \(TimeFormat.span(RuleAbsence.near))"]
        }
        func words(_ point: PowerTriggerReplay.Point) -> String {
            "\(TimeFormat.number(point.watts)) W at \(TimeFormat.clock(point.at, zone))"
        }
        facts.append(
            "within \(TimeFormat.span(RuleAbsence.near)) the power was at least \(words(least)) and at most \(words(greatest)); "
                + "it fires at \(course.firingWords)")
        if let stay = course.longestStay {
            facts.append(
                "the power's longest stay there was \(TimeFormat.span(stay.milliseconds)) from \(TimeFormat.clock(stay.from, zone))"
            )
        }
        return facts
    }
}

/// Rules without actions, derived from a rule to find out when each of its triggers was met and whether its conditions
/// held.
private struct Probes {
    let triggers: [String]
    let conditions: String
    let rules: [Rule]

    init(_ rule: Rule, at time: Int64, _ zone: ZoneOffsets) {
        triggers = rule.triggers.indices.map { "\(rule.name), trigger \($0 + 1) alone" }
        conditions = "\(rule.name), conditions alone"
        var probes = zip(triggers, rule.triggers).map { name, trigger in
            Rule(name: name, triggers: [trigger], actions: [])
        }
        let seconds = (Double(time) / 1000).rounded(.down)
        let local = Int(seconds) + zone.offset(at: seconds)
        let second = (local % 86_400 + 86_400) % 86_400
        if !rule.conditions.isEmpty, let clock = TimeOfDay(second: second) {
            let moment = Trigger.schedule(.daily(clock, on: .all))
            probes.append(Rule(name: conditions, triggers: [moment], conditions: rule.conditions, actions: []))
        }
        rules = probes
    }
}
