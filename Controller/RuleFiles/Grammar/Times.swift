import ProtocolCore
import RuleModel

/// Durations and times of day.
enum Times {
    private static let units = ["ms", "s", "min", "h", "d"]
    private static let clock = "[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?"

    /// `250 ms`, `3 s`, `5 min`, `2 h`, `1 d`: at most 31 days.
    static let duration = span("3 s", "5 min", in: 0...31 * 86_400, "from 0 s to 31 d")
    /// The duration of a transition: at most 1 h, the limit of the protocol.
    static let transition = span("2 s", in: 0...3600, "from 0 s to 1 h")
    /// The time until a plug turns itself off: at most 30 days, the limit of the protocol.
    static let autoOff = span("15 min", in: 1...30 * 86_400, "from 1 s to 30 d")
    /// The time limit of a program.
    static let commandTimeout = span("30 s", in: 1...600, "from 1 s to 10 min")
    /// The greatest age of an event that can fire a rule: at most 1 day.
    static let age = span("10 min", in: 0...86_400, "from 0 s to 1 d")
    /// The span in which a limit counts firings.
    static let limitSpan = span("1 h", in: 1...31 * 86_400, "from 1 s to 31 d")
    /// The offset from a sun event: at most 12 h, because a larger offset could reach past the opposite event.
    static let sunOffset = span("-30 min", "1 h", in: -43_200...43_200, "from -12 h to 12 h")

    private static func span(
        _ examples: String..., in range: ClosedRange<Int64>, _ words: String
    ) -> QuantityKind<Duration> {
        let isSigned = range.lowerBound < 0
        return QuantityKind(pattern: Number.pattern(units, isSigned: isSigned), examples: examples) {
            text throws(Mistake) in
            let (number, unit) = try Number.split(text, example: examples[0], units: units)
            let seconds =
                switch unit {
                case "ms": number / 1000
                case "min": number * 60
                case "h": number * 3600
                case "d": number * 86_400
                case _: number
                }
            guard isSigned || text.first != "-",
                (Double(range.lowerBound)...Double(range.upperBound)).contains(seconds)
            else { throw .outOfRange(text, words) }
            return .nanoseconds(Int64((seconds * 1e9).rounded()))
        }
    }

    /// A time of day such as `17:00` or `17:00:30`, before 24:00.
    static let timeOfDay = QuantityKind(pattern: "^\(clock)$", examples: ["07:30", "22:15:30"]) {
        text throws(Mistake) in
        guard let time = time(text), time < .endOfDay else {
            throw Mistake(
                message: "'\(text)' is not a time of day", hint: "write it as \"07:30\", from \"00:00\" to \"23:59:59\""
            )
        }
        return time
    }

    /// An end of a daily window: a time up to 24:00, or a sun event.
    static let windowEnd = QuantityKind(
        pattern: "^(\(clock)|\(SunEvent.allCases.map(\.rawValue).joined(separator: "|")))$",
        examples: ["17:00", "sunset", "sunrise"]
    ) { text throws(Mistake) in
        if let time = time(text) { return DailyWindow.Point.clock(time) }
        if let event = SunEvent(rawValue: text) { return .sun(event, offset: .zero) }
        if let meant = Suggestion.nearest(to: text, among: SunEvent.allCases.map(\.rawValue)) {
            throw Mistake(message: "'\(text)' is not a time of day", hint: "did you mean '\(meant)'?")
        }
        throw Mistake(
            message: "'\(text)' is not a time of day",
            hint: "write it as \"17:00\", from \"00:00\" to \"24:00\", or as sunrise or sunset")
    }

    private static func time(_ text: String) -> TimeOfDay? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            (1...2).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        let second = numbers.count == 3 ? numbers[2] : 0
        guard numbers.count == parts.count, (2...3).contains(parts.count),
            parts.dropFirst().allSatisfy({ $0.count == 2 }), (0..<60).contains(second),
            let minute = TimeOfDay(hour: numbers[0], minute: numbers[1])
        else { return nil }
        return TimeOfDay(second: minute.second + second)
    }
}
