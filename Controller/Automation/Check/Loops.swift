extension RuleInspection {
    private enum Limit {
        /// Rules of one loop. Longer ones are beyond what anybody writes, and their number explodes.
        static let length = 6
        static let loops = 32
    }

    /// Rules that set each other off without end, each loop once.
    func loops() -> [RuleFinding] {
        var search = LoopSearch(inspection: self, links: trimmed(links()))
        for start in rules.indices where search.found.count < Limit.loops {
            search.follow(from: start, to: start, length: Limit.length)
        }
        return search.found.prefix(Limit.loops).map(finding)
    }

    /// Without the links that lead nowhere, or that nothing leads to, by the rule they come from.
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
            "this \(isCertain ? "goes" : "may go") round without end: \((path + [again]).joined(separator: " → "))",
            hint: "add a condition that does not hold the second time, or a cooldown that is long enough")
    }

    /// Nothing on this way depends on anything, and nothing takes time.
    private func isCertain(_ link: RuleLink) -> Bool {
        let rule = rules[link.from]
        guard rule.conditions.isEmpty, rule.cooldown == .zero, rule.limit == nil,
            !rule.actions.contains(where: \.takesTime)
        else { return false }
        if let place = link.action {
            switch rule.actions[place] {
            case .turnOn(_, autoOff: nil), .turnOff, .toggle: break
            case .turnOn, .dim, .dimBy, .restore, .wait, .waitUntil, .notify, .run, .webHook, .call: return false
            }
        }
        switch rules[link.to].triggers[link.trigger] {
        case .relay, .rule: return true
        // What is off draws nothing; but what is on need not draw anything before.
        case .activePower, .activePowerStays, .activeEnergy, .button, .lost, .back, .protection, .appliance, .schedule,
            .timer:
            return false
        }
    }
}

/// A search for ways that lead back to where they began.
private struct LoopSearch {
    let inspection: RuleInspection
    let links: [Int: [RuleLink]]
    private(set) var found: [[RuleLink]] = []
    private var path: [RuleLink] = []
    private var isOnPath: Set<Int> = []
    private var known: Set<[Int]> = []

    init(inspection: RuleInspection, links: [Int: [RuleLink]]) { (self.inspection, self.links) = (inspection, links) }

    /// Each loop is found from its first rule, so that the others are behind it.
    mutating func follow(from rule: Int, to start: Int, length: Int) {
        isOnPath.insert(rule)
        defer { isOnPath.remove(rule) }
        for link in links[rule] ?? [] where link.to >= start {
            inspection.work.spend(10)
            guard !inspection.work.isSpent else { return }
            path.append(link)
            defer { path.removeLast() }
            if link.to == start {
                let members = path.map(\.from)
                if !known.contains(members), LoopWalk(inspection, path).goesOn {
                    known.insert(members)
                    found.append(path)
                }
            } else if length > 1, !isOnPath.contains(link.to) {
                follow(from: link.to, to: start, length: length - 1)
            }
        }
    }
}
