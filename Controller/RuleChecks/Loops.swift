extension RuleInspection {
    private enum Limit {
        /// The maximum number of links in one loop. Longer loops are unlikely, and the number of possible loops grows
        /// exponentially with their length.
        static let length = 6
        static let loops = 32
    }

    /// Finds rules that fire each other endlessly. Each loop is found once.
    func loops() -> [RuleFinding] {
        var search = LoopSearch(inspection: self, links: trimmed(links()))
        for start in search.starts where search.found.count < Limit.loops {
            search.follow(from: start, to: start, length: Limit.length)
        }
        if search.found.count >= Limit.loops { work.cut() }
        return search.found.prefix(Limit.loops).map(finding)
    }

    /// Removes the links without a preceding or a following link. Returns the other links, grouped by the rule from
    /// which each starts.
    private func trimmed(_ links: [RuleLink]) -> [Int: [RuleLink]] {
        var links = links
        while true {
            let sources = Set(links.map(\.from)), targets = Set(links.map(\.to))
            let kept = links.filter { targets.contains($0.from) && sources.contains($0.to) }
            if kept.count == links.count { return Dictionary(grouping: kept, by: \.from) }
            links = kept
        }
    }

    private func finding(_ loop: [RuleLink]) -> RuleFinding {
        let isCertain = loop.allSatisfy(isCertain)
        let path = loop.map { link in
            let rule = rules[link.from]
            guard let action = link.action else { return "\"\(rule.name)\" fires" }
            return "\"\(rule.name)\": \(rule.actions[action]) → \(rules[link.to].triggers[link.trigger])"
        }
        let word = loop[0].action.flatMap { place in
            rules[loop[0].from].actions[place].plugs.first { house.key($0) == loop[0].plug }
        }
        let again = "\"\(rules[loop[0].from].name)\" again"
        return RuleFinding(
            isCertain ? .error : .warning, rule: loop[0].from, loop[0].action.map { .action($0) } ?? .name, word: word,
            "\(isCertain ? "endless loop" : "possible endless loop"): \((path + [again]).joined(separator: " → "))",
            hint: "add a condition that does not hold the second time, or a cooldown that is long enough")
    }

    /// True if nothing prevents or delays the link: its first rule has no condition, cooldown, rate limit or wait; its
    /// action, if it has one, turns the plug on without `autoOff`, turns it off or toggles it; and the trigger of its
    /// second rule reacts to the relay or to the firing of the first rule.
    private func isCertain(_ link: RuleLink) -> Bool {
        let rule = rules[link.from]
        guard rule.conditions.isEmpty, rule.cooldown == .zero, rule.limit == nil,
            !rule.actions.contains(where: \.takesTime)
        else { return false }
        if let place = link.action {
            switch rule.actions[place] {
            case .turnOn(_, autoOff: nil), .turnOff, .toggle: break
            case .turnOn, .dim, .dimBy, .restore, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: return false
            }
        }
        switch rules[link.to].triggers[link.trigger] {
        case .relay, .rule: return true
        // A plug that is on may draw as little power as a plug that is off.
        case .activePower, .activePowerStays, .activeEnergy, .button, .lost, .back, .protection, .appliance, .schedule,
            .timer:
            return false
        }
    }
}

/// A search for paths of links that return to the trigger at which they start. Each link leads from a rule to a trigger
/// of the next rule. A rule may be on a path with two triggers.
private struct LoopSearch {
    struct Start: Hashable, Comparable {
        var rule: Int
        var trigger: Int

        static func < (left: Start, right: Start) -> Bool {
            (left.rule, left.trigger) < (right.rule, right.trigger)
        }
    }

    let inspection: RuleInspection
    let links: [Int: [RuleLink]]
    private(set) var found: [[RuleLink]] = []
    private var path: [RuleLink] = []
    private var isOnPath: Set<Start> = []
    private var known: Set<[Int]> = []

    init(inspection: RuleInspection, links: [Int: [RuleLink]]) { (self.inspection, self.links) = (inspection, links) }

    /// The triggers to which a link leads.
    var starts: [Start] {
        Set(links.values.joined().map { Start(rule: $0.to, trigger: $0.trigger) }).sorted()
    }

    /// Extends the path from `place` until it returns to `start`. Triggers before the start in the order of ``starts``
    /// are skipped, so that each loop is found only from its first trigger.
    mutating func follow(from place: Start, to start: Start, length: Int) {
        isOnPath.insert(place)
        defer { isOnPath.remove(place) }
        for link in links[place.rule] ?? [] {
            let next = Start(rule: link.to, trigger: link.trigger)
            if next < start { continue }
            inspection.work.spend(10)
            guard !inspection.work.isSpent else { return }
            path.append(link)
            defer { path.removeLast() }
            if next == start {
                let members = members
                if !known.contains(members), LoopWalk(inspection, path).goesOn {
                    known.insert(members)
                    found.append(path)
                }
            } else if length > 1, !isOnPath.contains(next) {
                follow(from: next, to: start, length: length - 1)
            }
        }
    }

    /// The rules of the path, each once, in order. Loops of the same rules through different triggers are reported
    /// once.
    private var members: [Int] {
        var seen: Set<Int> = []
        return path.map(\.from).filter { seen.insert($0).inserted }
    }
}
