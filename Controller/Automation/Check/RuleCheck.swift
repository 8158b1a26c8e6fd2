/// Looks at rules before they run, for what their text alone does not show: what can never happen, what does not exist, and what they
/// do to each other. It proves nothing about what it does not find.
public enum RuleCheck {
    /// Rules that fight in pairs make more warnings than there are rules; it bounds what is kept and printed. Errors are bounded by
    /// the parts of the rules, and each is told.
    public static let warningLimit = 500

    /// - Parameters:
    ///   - rules: all that will run together.
    ///   - house: nil where nobody could be asked, so that nothing is said about names and what plugs can do.
    ///   - knowsSun: somebody has said where the house is.
    ///   - sun: of the year ahead, for what is special on days without sunrise or sunset.
    /// - Returns: errors, each of them, then warnings, ``warningLimit`` at most and one that tells of those that are left out. Both in the
    ///   order of the rules and of their parts.
    public static func findings(
        _ rules: [Rule], in house: [KnownPlug]?, knowsSun: Bool, sun: SunTimes = .unknown
    ) -> [RuleFinding] {
        let inspection = RuleInspection(rules: rules, house: KnownHouse(house), knowsSun: knowsSun, sun: sun)
        var (errors, warnings): ([RuleFinding], [RuleFinding]) = ([], [])
        func take(_ findings: [RuleFinding]) {
            for finding in findings {
                switch finding.severity {
                case .error: errors.append(finding)
                case .warning: if warnings.count <= warningLimit { warnings.append(finding) }
                }
            }
        }
        for rule in rules.indices {
            take(inspection.names(rule) + inspection.capabilities(rule))
            take(inspection.limits(rule) + inspection.schedules(rule) + inspection.sunlessDays(rule))
            take(inspection.contradictions(rule) + inspection.waits(rule))
            take(inspection.idleActions(rule) + inspection.repetitions(rule) + inspection.awayCommands(rule))
        }
        take(inspection.twins() + inspection.fights() + inspection.loops())
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

    /// Of all rules, and told at the first.
    private static var cut: RuleFinding {
        RuleFinding(
            .warning, rule: 0, .name, "there are more than \(warningLimit) warnings: the others are not told",
            hint: "mend these and check again, or check fewer files at once")
    }

    /// Of all rules, and told at the first.
    private static var unfinished: RuleFinding {
        RuleFinding(
            .warning, rule: 0, .name,
            "not everything was looked at: there is too much here to compare all of it; fights and loops may be left",
            hint: "check fewer files at once, or give rules fewer triggers, conditions and plugs")
    }
}

/// What is looked at. Each kind of finding has a file of its own.
struct RuleInspection {
    let rules: [Rule]
    let house: KnownHouse
    let knowsSun: Bool
    let sun: SunTimes
    let work = InspectionWork()
    /// Plugs that some rule commands, by ``KnownHouse/key(_:)``.
    let changedKeys: Set<String>
    /// Some rule calls a script, which may command any plug: nobody knows before.
    let asksScripts: Bool
    let names: Set<String>

    init(rules: [Rule], house: KnownHouse, knowsSun: Bool, sun: SunTimes) {
        (self.rules, self.house, self.knowsSun, self.sun) = (rules, house, knowsSun, sun)
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
    /// As they stand in a file.
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
    /// The conditions in it, those that it waits for included, with their places.
    var placedConditions: [(part: RulePart, condition: Condition)] {
        conditions.enumerated().map { (.condition($0.offset), $0.element) }
            + actions.enumerated().compactMap { place, action in
                guard case .waitUntil(let condition, _, _) = action else { return nil }
                return (.action(place), condition)
            }
    }

    /// The plugs in it, with their places, each once a place.
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
    /// Each once, where it stands first.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Condition {
    /// It and what it is made of, down to the leaves.
    var leaves: [Condition] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.leaves)
        case .not(let part): part.leaves
        case .time, .weekdays, .relay, .level, .activePower, .present: [self]
        }
    }
}
