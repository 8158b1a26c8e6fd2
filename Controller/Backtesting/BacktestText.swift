import Automation
public import HouseCalendar

extension BacktestReport {
    /// Returns the text for the user: each firing with its steps and the recorded switchings, and a summary at the end.
    public func lines(_ zone: ZoneOffsets) -> [String] {
        let asides = asides.map { ($0.at, $0.asideLines(zone)) }
        let told = firings.map { ($0.at, $0.lines(zone)) }
        let sorted = (told + asides).enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        return sorted.flatMap(\.element.1) + (sorted.isEmpty ? [] : [""]) + summary(zone)
    }

    /// Returns one line per rule, and lines about omitted entries, unrecorded plugs and gaps.
    public func summary(_ zone: ZoneOffsets) -> [String] {
        var lines = counts.sorted { $0.key < $1.key }.map { rule, count in
            var parts = ["\(count.firings) \(count.firings == 1 ? "firing" : "firings")"]
            let held = count.heldBack.sorted { $0.key < $1.key }
            if !held.isEmpty {
                parts.append("held back " + held.map { "\($0.value) x (\($0.key))" }.joined(separator: ", "))
            }
            if count.nearMisses > 0 {
                parts.append("\(count.nearMisses) near \(count.nearMisses == 1 ? "miss" : "misses")")
            }
            if count.failures > 0 {
                parts.append("\(count.failures) \(count.failures == 1 ? "call" : "calls") failed")
            }
            if count.commandsHeldBack > 0 {
                parts.append(
                    "\(count.commandsHeldBack) commands and effects above the script's limit per minute are left out")
            }
            return "\(rule): " + parts.joined(separator: "; ")
        }
        if omitted > 0 { lines.append("\(omitted) more firings are counted but not listed") }
        if omittedAsides > 0 {
            lines.append("\(omittedAsides) more edges without a firing are counted but not listed")
        }
        if !unrecorded.isEmpty {
            lines.append(
                "not recorded, each assumed to be on until a rule switches it: \(unrecorded.joined(separator: ", "))")
        }
        lines += coverage.compactMap { $0.line(within: span, zone) }
        lines.append("from \(TimeFormat.local(span.lowerBound, zone)) to \(TimeFormat.local(span.upperBound, zone))")
        return lines
    }
}

extension BacktestReport.Firing {
    /// Returns the text of the firing: a line with its cause, and one per step.
    public func lines(_ zone: ZoneOffsets) -> [String] {
        let trace = trace
        return ["\(TimeFormat.local(trace.at, zone))  \(trace.rule): \(trace.cause)"]
            + trace.steps.enumerated().map { index, step in
                let at = step.at - trace.at >= 1000 ? "\(TimeFormat.clock(step.at, zone)) " : ""
                return "    \(at)\(step.what)" + (step.outcome.map { ": \($0)" } ?? "")
                    + (recorded[index].map { ": \($0.words(beside: step.at, step.what))" } ?? "")
            } + (trace.omitted.map { ["    and \($0) more"] } ?? [])
    }
}

extension RecordedSwitching {
    /// Describes the switching in relation to a command: `it was switched on 42 s later (according to its power)`.
    func words(beside command: Int64, _ what: String) -> String {
        let direction = what.hasPrefix("turn off") ? "off" : "on"
        let by =
            switch source {
            case .journal: ""
            case .power: " (according to its power)"
            case .rule: " by a command of a rule"
            }
        guard let at else {
            return wasSo
                ? "it was already \(direction)\(by)"
                : "it was not switched \(direction) within \(TimeFormat.span(Self.reach))\(by)"
        }
        let (time, distance) = (at - command, TimeFormat.span(at - command))
        let when = time == 0 ? "at the same time" : time > 0 ? "\(distance) later" : "\(distance) before"
        return "it was switched \(direction) \(when)\(by)"
    }
}

extension RuleTrace {
    fileprivate func asideLines(_ zone: ZoneOffsets) -> [String] {
        let what = outcome == .nearMiss ? "nearly fired" : "held back"
        return ["\(TimeFormat.local(at, zone))  \(rule) \(what): \(cause); \(why ?? "")"]
    }
}

extension BacktestComparison {
    /// Returns the text for the user: the firings in only one of the reports.
    public func lines(_ zone: ZoneOffsets, names: (here: String, there: String)) -> [String] {
        var last = ["in both: \(inBoth)"]
        if let until {
            last.append(
                "compared up to \(TimeFormat.local(until, zone)); \(omitted) more firings are counted but not compared")
        }
        func list(_ firings: [BacktestReport.Firing], _ name: String) -> [String] {
            ["only in \(name): \(firings.count)"] + firings.flatMap { $0.lines(zone).map { "  " + $0 } }
        }
        return list(onlyHere, names.here) + list(onlyThere, names.there) + last
    }
}
