extension CivilTime {
    /// Parses `2026-11-20`, `2026-11-20T07:30` or `2026-11-20 07:30:15`. A date without a time means its midnight.
    ///
    /// Nil for any other form, for a date that does not exist, and for years outside 1970 to 2200.
    public init?(parsing text: String) {
        let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        guard let date = numbers(halves[0], separator: "-", digits: [4, 2, 2]) else { return nil }
        self.init(year: date[0], month: date[1], day: date[2])
        if halves.count == 2 {
            let forms = [[2, 2], [2, 2, 2]]
            guard let clock = forms.compactMap({ numbers(halves[1], separator: ":", digits: $0) }).first else {
                return nil
            }
            (hour, minute, second) = (clock[0], clock[1], clock.count > 2 ? clock[2] : 0)
        }
        // A date that does not exist, such as 30 February, becomes a different date, so the comparison fails.
        guard (1970...2200).contains(year), (1...12).contains(month), hour < 24, minute < 60, second < 60,
            CivilTime(localSeconds: localSeconds) == self
        else { return nil }
    }
}

/// Returns the numbers if each has exactly the given number of digits, else nil.
private func numbers(_ text: Substring, separator: Character, digits: [Int]) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == digits.count else { return nil }
    let numbers = zip(parts, digits).compactMap { part, count in
        part.utf8.count == count && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
    }
    return numbers.count == digits.count ? numbers : nil
}
