public import HouseCalendar
public import RuleModel

/// Checks rules before they run for faults that their syntax does not show: triggers and conditions that cannot happen,
/// unknown plugs and rules, and conflicts between rules. It does not prove that rules without findings are correct.
public enum RuleCheck {
    /// The maximum number of warnings. Conflicts between pairs of rules can outnumber the rules, so this limits memory
    /// and output. The number of errors is limited by the parts of the rules, and all are reported.
    public static let warningLimit = 500

    /// Returns the findings for a set of rules.
    ///
    /// - Parameters:
    ///   - rules: all rules that run together.
    ///   - house: the known plugs; nil if they are unavailable, which disables the checks of plug names and
    ///     capabilities.
    ///   - machines: the names of the machines that rules can wake; nil if they are unavailable.
    ///   - knowsSun: true if the location of the house is known.
    ///   - sun: the sun's times of the year ahead, for the check of days without sunrise or sunset.
    /// - Returns: all errors, then notes about omitted findings, then at most ``warningLimit`` warnings. Errors and
    ///   warnings are in the order of the rules and their parts.
    public static func findings(
        _ rules: [Rule], in house: [KnownPlug]?, machines: [String]? = nil, knowsSun: Bool, sun: SunTimes = .unknown
    ) -> [RuleFinding] {
        let inspection = RuleInspection(
            rules: rules, house: KnownHouse(house), machines: machines, knowsSun: knowsSun, sun: sun)
        var (errors, warnings): ([RuleFinding], [RuleFinding]) = ([], [])
        func add(_ findings: [RuleFinding]) {
            for finding in findings {
                switch finding.severity {
                case .error: errors.append(finding)
                case .warning: if warnings.count <= warningLimit { warnings.append(finding) }
                }
            }
        }
        for rule in rules.indices {
            add(inspection.names(rule) + inspection.capabilities(rule))
            add(inspection.limits(rule) + inspection.schedules(rule) + inspection.sunlessDays(rule))
            add(inspection.contradictions(rule) + inspection.waits(rule))
            add(inspection.idleActions(rule) + inspection.repetitions(rule) + inspection.awayCommands(rule))
        }
        add(inspection.twins() + inspection.fights() + inspection.loops())
        let told =
            (inspection.work.isSpent || inspection.work.isCut ? [unfinished] : [])
            + (warnings.count > warningLimit ? [cut] : [])
        return sorted(errors) + told + sorted(warnings).prefix(warningLimit)
    }

    private static func sorted(_ findings: [RuleFinding]) -> [RuleFinding] {
        findings.enumerated().sorted {
            ($0.element.rule, $0.element.part.order, $0.offset) < ($1.element.rule, $1.element.part.order, $1.offset)
        }.map(\.element)
    }

    /// A finding about all rules, reported at the first rule.
    private static var cut: RuleFinding {
        RuleFinding(
            .warning, rule: 0, .name, "there are more than \(warningLimit) warnings; the others are not listed",
            hint: "fix these and check again, or check fewer files at once")
    }

    /// A finding about all rules, reported at the first rule.
    private static var unfinished: RuleFinding {
        RuleFinding(
            .warning, rule: 0, .name,
            "the check is incomplete because there are too many rules to compare; it may miss contradictions and loops",
            hint: "check fewer files at once, or give rules fewer triggers, conditions and plugs")
    }
}

/// The input and the caches of one check. Its extensions in the other files of this folder return the findings.
struct RuleInspection {
    let rules: [Rule]
    let house: KnownHouse
    let machines: [String]?
    let knowsSun: Bool
    let sun: SunTimes
    let work = InspectionWork()
    /// The plugs that some rule turns on, turns off, toggles or dims, by ``KnownHouse/key(_:)``. `restore` does not
    /// count.
    let changedKeys: Set<String>
    /// True if some rule calls a script, which may command any plug.
    let asksScripts: Bool
    let names: Set<String>

    init(rules: [Rule], house: KnownHouse, machines: [String]? = nil, knowsSun: Bool, sun: SunTimes) {
        (self.rules, self.house, self.machines, self.knowsSun, self.sun) = (rules, house, machines, knowsSun, sun)
        names = Set(rules.map(\.name))
        asksScripts = rules.contains { !$0.handlers.isEmpty }
        var changedKeys: Set<String> = []
        for action in rules.lazy.flatMap(\.actions) {
            if case .restore = action { continue }
            for plug in action.plugs { changedKeys.insert(house.key(plug)) }
        }
        self.changedKeys = changedKeys
    }
}

extension RulePart {
    /// The order of the parts in a file.
    fileprivate var order: Int {
        switch self {
        case .name: 0
        case .trigger(let index): 1000 + index
        case .condition(let index): 2000 + index
        case .action(let index): 3000 + index
        case .key: 4000
        }
    }
}

extension Rule {
    /// The rule's conditions with their places, including conditions of waits.
    var placedConditions: [(part: RulePart, condition: Condition)] {
        conditions.enumerated().map { (.condition($0.offset), $0.element) }
            + actions.enumerated().compactMap { place, action in
                guard case .waitUntil(let condition, _, _) = action else { return nil }
                return (.action(place), condition)
            }
    }

    /// The rule's plugs with their places, each plug once per place.
    var placedPlugs: [(part: RulePart, plug: String)] {
        let triggered = triggers.enumerated().compactMap { place, trigger in
            trigger.plug.map { (part: RulePart.trigger(place), plug: $0) }
        }
        let judged = placedConditions.flatMap { part, condition in condition.plugs.unique.map { (part, $0) } }
        let changed = actions.enumerated().flatMap { place, action in
            action.plugs.unique.map { (RulePart.action(place), $0) }
        }
        return triggered + judged + changed
    }
}

extension Array where Element: Hashable {
    /// The elements in order, each once.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Condition {
    /// The leaves of the condition.
    var leaves: [Condition] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.leaves)
        case .not(let part): part.leaves
        case .time, .weekdays, .relay, .level, .activePower, .present: [self]
        }
    }
}
