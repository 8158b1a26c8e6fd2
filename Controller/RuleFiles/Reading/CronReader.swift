import ProtocolCore
import RuleModel

/// Parses a schedule of crontab(5): minute, hour, day of the month, month, day of the week. Each field is `*`, a value,
/// a range, `*` or a range with a step, or a list of these with commas. Months and days of the week have names of three
/// letters, and both 0 and 7 are Sunday. Nicknames such as `@daily` are accepted too.
enum CronReader {
    static let kind = QuantityKind(
        pattern: #"^ *([^ ]+ +){4}[^ ]+ *$|^ *@[A-Za-z]+ *$"#,
        examples: ["*/15 6-9 * * mon-fri", "0 7 1 jan,jul *", "@daily"]
    ) { text throws(Mistake) in try schedule(text) }

    private struct Field {
        var name: String
        var range: ClosedRange<Int>
        var names: [String] = []
        /// The value of the first name.
        var firstNamed = 0
    }

    private static let fields = [
        Field(name: "minute", range: 0...59), Field(name: "hour", range: 0...23),
        Field(name: "day of the month", range: 1...31),
        Field(
            name: "month", range: 1...12,
            names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], firstNamed: 1),
        Field(name: "day of the week", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
    ]

    private static let nicknames = [
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
        "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
    ]

    static func schedule(_ text: String) throws(Mistake) -> CronSchedule {
        guard text.utf8.count <= RuleFileLimits.cronBytes else {
            throw Mistake(
                message: "a cron schedule has at most \(RuleFileLimits.cronBytes) bytes",
                hint: "make 'when' a list of several schedules")
        }
        var words = text.split(separator: " ").map { $0.lowercased() }
        if words.count == 1, words[0].hasPrefix("@") {
            guard let meaning = nicknames[words[0]] else {
                throw Mistake(
                    message: "'\(words[0])' is not known in a cron schedule",
                    hint: "the names are \(nicknames.keys.sorted().joined(separator: ", "))")
            }
            words = meaning.split(separator: " ").map(String.init)
        }
        guard words.count == fields.count else {
            throw Mistake(
                message: "a cron schedule has five fields, this one has \(words.count)",
                hint: "minute, hour, day of the month, month, day of the week: \"*/15 6-9 * * mon-fri\"")
        }
        var sets: [UInt64] = []
        for (word, field) in zip(words, fields) { sets.append(try set(word, field)) }
        // Merge 7 into 0 (Sunday), and convert from Sunday first to Monday first.
        let weekdays = (sets[4] | sets[4] >> 7 & 1) & 0x7F
        return CronSchedule(
            text: text, minutes: sets[0], hours: UInt32(sets[1]), days: UInt32(sets[2]), months: UInt16(sets[3]),
            weekdays: Weekdays(rawValue: UInt8(weekdays >> 1 | weekdays << 6 & 0x40)),
            // crontab(5): if either field begins with `*`, both fields must match. For example, `*/2` and `mon` match a
            // Monday with an odd day of the month.
            eitherDay: !words[2].hasPrefix("*") && !words[4].hasPrefix("*"),
            isWildcard: words[0].hasPrefix("*") || words[1].hasPrefix("*"))
    }

    private static func set(_ word: String, _ field: Field) throws(Mistake) -> UInt64 {
        var set: UInt64 = 0
        for part in word.split(separator: ",", omittingEmptySubsequences: false) {
            let (range, step) = try range(part, field)
            for value in stride(from: range.lowerBound, through: range.upperBound, by: step) { set |= 1 << value }
        }
        return set
    }

    private static func range(_ part: Substring, _ field: Field) throws(Mistake) -> (ClosedRange<Int>, step: Int) {
        let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
        var step = 1
        if pieces.count > 1 {
            guard pieces.count == 2, let number = number(pieces[1]), number > 0 else {
                throw Mistake(
                    message: "'\(part)' has no valid step, in the field \(field.name)",
                    hint: "write a number of at least 1 after '/', such as */15")
            }
            step = number
        }
        // `*` means seven days of the week, with Sunday once.
        if pieces[0] == "*" { return (field.names.count == 7 ? 0...6 : field.range, step) }
        let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false)
        let first = try value(ends[0], part, field)
        guard ends.count > 1 else {
            guard pieces.count == 1 else {
                throw Mistake(
                    message: "'\(part)' has a step but no range, in the field \(field.name)",
                    hint: "write */\(step) or \(ends[0])-\(field.range.upperBound)/\(step)")
            }
            return (first...first, 1)
        }
        guard ends.count == 2 else { throw noValue(part, field) }
        var last = try value(ends[1], part, field)
        // In a range such as fri-sun, Sunday is the last day.
        if field.names.count == 7, last == 0, first > 0 { last = 7 }
        guard first <= last else {
            throw Mistake(
                message: "'\(part)' ends before it begins, in the field \(field.name)",
                hint: "write \(first)-\(field.range.upperBound),\(field.range.lowerBound)-\(last)")
        }
        return (first...last, step)
    }

    private static func value(_ text: Substring, _ part: Substring, _ field: Field) throws(Mistake) -> Int {
        if let index = field.names.firstIndex(of: String(text)) { return index + field.firstNamed }
        guard let number = number(text) else { throw noValue(part, field) }
        guard field.range.contains(number) else {
            throw Mistake(
                message: "'\(text)' is out of range, in the field \(field.name)",
                hint: "write a number from \(field.range.lowerBound) to \(field.range.upperBound)")
        }
        return number
    }

    private static func noValue(_ part: Substring, _ field: Field) -> Mistake {
        let names = field.names.isEmpty ? "" : ", or \(field.names.joined(separator: ", "))"
        return Mistake(
            message: "'\(part)' is not valid in the field \(field.name)",
            hint:
                "write *, \(field.range.lowerBound) to \(field.range.upperBound)\(names), or combinations such as 1-5, 1,3 or */2"
        )
    }

    private static func number(_ text: Substring) -> Int? {
        (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
