public import HouseCalendar

extension RuleAbsence {
    /// Returns the lines of text for the user.
    public func lines(_ zone: ZoneOffsets) -> [String] {
        var lines = [
            "\(TimeFormat.local(at, zone))  \(rule): no recorded trigger within \(TimeFormat.span(Self.near))"
        ]
        for trigger in triggers {
            lines.append("    trigger   \(trigger.trigger)")
            lines += trigger.facts.map { "              \($0)" }
        }
        for condition in conditions {
            lines.append("    if        \(condition.condition): \(condition.held ? "held" : "did not hold")")
        }
        guard !wouldHave.isEmpty else { return lines }
        lines.append("    according to the recorded samples, the current rule would have done this:")
        lines += wouldHave.flatMap { $0.lines(zone) }.map { "    " + $0 }
        return lines
    }
}
