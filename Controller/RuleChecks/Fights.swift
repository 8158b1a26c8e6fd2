import RuleModel

extension RuleInspection {
    /// If a second rule undoes a command within this time, the author has probably made a mistake. A rule that turns a
    /// lamp off a minute after another rule turned it on is probably intended.
    private static let shortGap = Duration.seconds(10)

    /// Finds pairs of rules that give one plug opposite commands at the same time or shortly after each other.
    func fights() -> [RuleFinding] {
        var findings: [RuleFinding] = []
        let orders = rules.map(soonOrders), moments = moments()
        // Only rules that command the same plug can conflict.
        var byPlug: [String: [Int]] = [:]
        for (index, order) in orders.enumerated() { for key in order.keys { byPlug[key, default: []].append(index) } }
        var seen: Set<[Int]> = []
        for key in byPlug.keys.sorted() {
            let indices = byPlug[key] ?? []
            for (offset, first) in indices.enumerated() {
                for second in indices.dropFirst(offset + 1) {
                    work.spend(4)
                    guard !work.isSpent, findings.count <= RuleCheck.warningLimit else { return findings }
                    guard let (mine, its) = opposite(first, orders[first][key], second, orders[second][key]),
                        seen.insert([first, second]).inserted
                    else { continue }
                    let waited = its.after - mine.after
                    if let met = commonMoment(moments[first], moments[second]) {
                        findings +=
                            waited == .zero
                            ? [
                                fight(first, mine, with: second, its, met.first.own),
                                fight(second, its, with: first, mine, met.second.own),
                            ] : [undoing(first, mine, second, its, after: waited, lasts: false)]
                    } else if let gap = shortGap(moments[first], moments[second], waited) {
                        findings.append(undoing(first, mine, second, its, after: gap.length, lasts: gap.lasts))
                    }
                }
            }
        }
        return findings
    }

    /// A command to one plug, with its delay after the firing.
    private struct Order {
        var place: Int
        var plug: String
        var after: Duration
    }

    /// Returns the commands to each plug within ``shortGap`` of the firing, by plug key. Of several commands at the
    /// same time, only the last is included. Commands after a wait for a condition are not included.
    private func soonOrders(_ rule: Rule) -> [String: [Order]] {
        var orders: [String: [Order]] = [:]
        var after = Duration.zero
        for (place, action) in rule.actions.enumerated() {
            if case .wait(let duration) = action {
                after += duration
            } else if action.takesTime {
                break
            }
            if after > Self.shortGap { break }
            for plug in action.plugs {
                let key = house.key(plug)
                if orders[key]?.last?.after == after { orders[key]?.removeLast() }
                orders[key, default: []].append(Order(place: place, plug: plug, after: after))
            }
        }
        return orders
    }

    /// Returns the two opposite commands that are nearest to each other in time; nil if no two commands are opposite.
    private func opposite(_ first: Int, _ mine: [Order]?, _ second: Int, _ its: [Order]?) -> (Order, Order)? {
        var nearest: (Order, Order)?
        for mine in mine ?? [] {
            for its in its ?? [] {
                work.spend(1)
                let gap = (its.after - mine.after).magnitude
                guard areOpposite(rules[first].actions[mine.place], rules[second].actions[its.place]),
                    nearest.map({ gap < ($0.1.after - $0.0.after).magnitude }) ?? true
                else { continue }
                nearest = (mine, its)
            }
        }
        return nearest
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
            it contradicts \"\(rules[other].name)\", which does this at the same time: \
            \(rules[other].actions[its.place]) (trigger: \(trigger))
            """,
            hint: "add conditions that exclude each other, or combine the rules")
    }

    /// - Parameters:
    ///   - gap: the delay of the second command after the first; negative if the second command comes first.
    ///   - lasts: true if the later rule fires only if the state that fired the earlier rule lasts.
    private func undoing(
        _ first: Int, _ mine: Order, _ second: Int, _ its: Order, after gap: Duration, lasts: Bool
    ) -> RuleFinding {
        guard gap > .zero else { return undoing(second, its, first, mine, after: .zero - gap, lasts: lasts) }
        return RuleFinding(
            .warning, rule: first, .action(mine.place), word: mine.plug,
            """
            \"\(rules[second].name)\" undoes it \(gap.words) later\(lasts ? " if the state lasts" : ""): \
            \(rules[second].actions[its.place])
            """,
            hint: "if this is intended, combine the rules with a 'wait' between; otherwise change one of the times")
    }

    /// Returns the delay of the second command after the first, if one event fires both rules at different times and
    /// the commands are at most ``shortGap`` apart; otherwise nil.
    ///
    /// - Parameter waited: how much longer the second rule waits before its command.
    private func shortGap(
        _ first: [RuleMoment], _ second: [RuleMoment], _ waited: Duration
    ) -> (length: Duration, lasts: Bool)? {
        for mine in first {
            for its in second where mine.key == its.key {
                work.spend(10)
                guard !work.isSpent else { return nil }
                guard let apart = gap(mine.origin, its.origin), apart != .zero, apart + waited != .zero,
                    (apart + waited).magnitude <= Self.shortGap, canMeet(mine, its)
                else {
                    continue
                }
                if case .schedule = mine.origin { return (apart + waited, false) }
                return (apart + waited, true)
            }
        }
        return nil
    }

    /// Returns the delay of the second trigger after the first, negative if the second comes first. Nil unless the
    /// earlier trigger implies the later one, as with two dwells at the same threshold.
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
        case (.schedule(let mine), .schedule(let its)): return gap(mine, its)
        case _: return nil
        }
    }

    /// Returns the delay of the second schedule after the first on a day that both share. Nil if they share no day or
    /// cannot be compared.
    private func gap(_ first: Schedule, _ second: Schedule) -> Duration? {
        switch (first, second) {
        case (.sun(let mine, let offset, let days), .sun(let its, let other, let otherDays)):
            return mine == its && !days.isDisjoint(with: otherDays) ? other - offset : nil
        case (.daily(let time, let days), .daily(let other, let otherDays)):
            return days.isDisjoint(with: otherDays) ? nil : .seconds(other.second - time.second)
        case (.daily(let time, let days), .cron(let cron)): return cron.nearest(to: time, on: days)
        case (.cron(let cron), .daily(let time, let days)):
            return cron.nearest(to: time, on: days).map { .zero - $0 }
        case (.sun, _), (_, .sun), (.cron, .cron): return nil
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension CronSchedule {
    /// Returns the delay from a time on these days to the nearest matching minute, directly before or after it; nil if
    /// neither of these two minutes matches.
    fileprivate func nearest(to time: TimeOfDay, on days: Weekdays) -> Duration? {
        let past = time.second % 60
        return [time.second - past, time.second - past + 60].compactMap { second -> Int? in
            guard let minute = TimeOfDay(second: second), coincides(with: minute, on: days) else { return nil }
            return second - time.second
        }.min { abs($0) < abs($1) }.map { .seconds($0) }
    }
}
