public import Automation
public import HouseCalendar

extension RuleTrace {
    /// Returns the trace as text for the user: a line with the outcome, and indented lines with its causes and effects.
    public func lines(_ zone: ZoneOffsets) -> [String] {
        let verb =
            switch outcome {
            case .fired: "fired"
            case .heldBack: "did not fire"
            case .nearMiss: "nearly fired"
            }
        var lines = ["\(TimeFormat.local(at, zone))  \(rule) \(verb)"]
        func add(_ head: String, _ text: String) {
            lines.append("    " + head + String(repeating: " ", count: max(1, 10 - head.count)) + text)
        }
        add(outcome == .nearMiss ? "trigger" : "because", cause)
        if let since {
            add("since", "\(TimeFormat.clock(since, zone)), \(TimeFormat.span(at - since)) before")
        }
        if isPart == true { add("", "its first actions are not known") }
        for condition in conditions { add("if", "\(condition.condition): \(condition.held ? "held" : "did not hold")") }
        if let why { add("but", why) }
        for step in steps {
            let head = step.at - at >= 1000 ? TimeFormat.clock(step.at, zone) : "then"
            add(head, step.what + step.answer)
        }
        if let omitted { add("", "and \(omitted) more") }
        if let finished, !steps.isEmpty { add(TimeFormat.clock(finished, zone), "finished") }
        return lines
    }
}

extension RuleTrace.Step {
    fileprivate var answer: String {
        guard let outcome else { return id == nil ? "" : ": no answer" }
        guard let answered else { return ": \(outcome)" }
        return ": \(outcome) after \(TimeFormat.span(answered - at))"
    }
}
