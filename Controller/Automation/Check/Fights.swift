extension RuleInspection {
    /// What lasts no longer was hardly meant. A lamp that a second rule turns off after a minute may be.
    private static let shortGap = Duration.seconds(10)

    /// Two rules that want opposite things of one plug, in one moment or one right after the other.
    func fights() -> [RuleFinding] {
        var findings: [RuleFinding] = []
        let orders = rules.map(immediateOrders), moments = moments()
        // Only rules that command the same plug can fight.
        var byPlug: [String: [Int]] = [:]
        for (index, order) in orders.enumerated() { for key in order.keys { byPlug[key, default: []].append(index) } }
        var seen: Set<[Int]> = []
        for key in byPlug.keys.sorted() {
            let indices = byPlug[key] ?? []
            for (offset, first) in indices.enumerated() {
                for second in indices.dropFirst(offset + 1) {
                    work.spend(4)
                    guard !work.isSpent, findings.count <= RuleCheck.warningLimit else { return findings }
                    guard let mine = orders[first][key], let its = orders[second][key],
                        areOpposite(rules[first].actions[mine.place], rules[second].actions[its.place]),
                        seen.insert([first, second]).inserted
                    else { continue }
                    if let met = commonMoment(moments[first], moments[second]) {
                        findings += [
                            fight(first, mine, with: second, its, met.first.own),
                            fight(second, its, with: first, mine, met.second.own),
                        ]
                    } else if let gap = shortGap(moments[first], moments[second]) {
                        findings.append(
                            gap > .zero
                                ? undoing(first, mine, by: second, its, after: gap)
                                : undoing(second, its, by: first, mine, after: .zero - gap))
                    }
                }
            }
        }
        return findings
    }

    private typealias Order = (place: Int, plug: String)

    /// The last command to each plug in the moment of the firing, by key.
    private func immediateOrders(_ rule: Rule) -> [String: Order] {
        var orders: [String: Order] = [:]
        for (place, action) in rule.actions.enumerated() {
            if action.takesTime { break }
            for plug in action.plugs { orders[house.key(plug)] = (place, plug) }
        }
        return orders
    }

    private func areOpposite(_ first: RuleAction, _ second: RuleAction) -> Bool {
        if case .toggle = first, case .toggle = second { return true }
        if case .dim(_, let level, _) = first, case .dim(_, let other, _) = second { return level != other }
        if let on = first.relayAfter, let other = second.relayAfter { return on != other }
        return false
    }

    private func fight(
        _ rule: Int, _ order: Order, with other: Int, _ its: Order, _ trigger: Trigger
    ) -> RuleFinding {
        RuleFinding(
            .warning, rule: rule, .action(order.place), word: order.plug,
            """
            it fights with \"\(rules[other].name)\", which does this in the same moment: \
            \(rules[other].actions[its.place]) (trigger: \(trigger))
            """,
            hint: "give them conditions that exclude each other, or make one rule of both")
    }

    private func undoing(
        _ rule: Int, _ order: Order, by other: Int, _ its: Order, after gap: Duration
    ) -> RuleFinding {
        RuleFinding(
            .warning, rule: rule, .action(order.place), word: order.plug,
            """
            \"\(rules[other].name)\" undoes it \(gap.words) later, each time that it stays so: \
            \(rules[other].actions[its.place])
            """,
            hint: "if that is meant, write one rule of both, with a wait between; else change one of the two times")
    }

    /// How much later the second rule is set off by what sets off the first, if that is soon: negative where it is earlier.
    private func shortGap(_ first: [RuleMoment], _ second: [RuleMoment]) -> Duration? {
        for mine in first {
            for its in second where mine.key == its.key {
                work.spend(10)
                guard !work.isSpent else { return nil }
                guard let gap = gap(mine.origin, its.origin), gap != .zero, gap.magnitude <= Self.shortGap,
                    canMeet(mine, its)
                else {
                    continue
                }
                return gap
            }
        }
        return nil
    }

    /// Between the dwells of triggers that are otherwise the same, or of which the later one follows from the earlier one.
    private func gap(_ first: Trigger, _ second: Trigger) -> Duration? {
        switch (first, second) {
        case (.activePower(_, let mine), .activePower(_, let its)):
            guard mine.direction == its.direction else { return nil }
            let (earlier, later) = mine.dwell < its.dwell ? (mine, its) : (its, mine)
            let follows =
                switch mine.direction {
                case .risesAbove: later.watts <= earlier.watts
                case .fallsBelow: later.watts >= earlier.watts
                }
            return follows ? its.dwell - mine.dwell : nil
        case (.activePowerStays(_, let mine), .activePowerStays(_, let its)):
            return mine.low == its.low && mine.high == its.high ? its.dwell - mine.dwell : nil
        case (.lost(_, let mine), .lost(_, let its)), (.back(_, let mine), .back(_, let its)): return its - mine
        case _: return nil
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
