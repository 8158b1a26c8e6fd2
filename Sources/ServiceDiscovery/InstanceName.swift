/// Derives alternative service names after conflicts.
package enum InstanceName {
    /// Returns the name with number `number` (2, 3, ...): "Lamp" becomes "Lamp (2)" (RFC 6762 §9). Shortens the base if
    /// the result would exceed the limit of a label.
    package static func numbered(_ preferred: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        return shortened(preferred, to: RFC6763.instanceNameLimit - suffix.utf8.count) + suffix
    }

    /// Returns the host name with a number, without blanks and parentheses: "plug-1a2b3c-2".
    static func numberedHost(_ preferred: String, _ number: Int) -> String {
        let suffix = "-\(number)"
        return shortened(preferred, to: RFC6763.instanceNameLimit - suffix.utf8.count) + suffix
    }

    /// Splits a name into its base and its number, so that "Lamp (2)" continues as "Lamp (3)". A name without a number
    /// has the number 1.
    static func split(_ preferred: String) -> (base: String, number: Int) {
        guard preferred.hasSuffix(")"), let open = preferred.lastIndex(of: "("), open > preferred.startIndex else {
            return (preferred, 1)
        }
        let digits = preferred[preferred.index(after: open)...].dropLast()
        let base = preferred[..<open]
        // A number below 2 or of more than six digits is part of the name.
        guard base.hasSuffix(" "), base.count > 1, (1...6).contains(digits.utf8.count), let number = Int(digits),
            number > 1
        else { return (preferred, 1) }
        return (String(base.dropLast()), number)
    }

    /// Removes characters from the end of the text until it has at most `limit` bytes.
    static func shortened(_ text: String, to limit: Int) -> String {
        var text = text
        while text.utf8.count > limit { text.removeLast() }
        return text
    }
}

/// Chooses the next number for a name that another host has.
package struct Renaming: Hashable, Sendable {
    /// The name without a number.
    package let base: String
    /// The current number; 1 for the name as it is.
    package private(set) var number: Int
    private var attempts = 0

    /// Starts with a name, which may end in a number: "Lamp (2)".
    package init(_ preferred: String) {
        let (base, number) = InstanceName.split(preferred)
        self.init(base: base, number: number)
    }

    init(base: String, number: Int = 1) {
        self.base = base
        self.number = number
    }

    /// The number of attempts that count upwards, as users expect. If many hosts request one name, counting would let
    /// only one host succeed per round. Later attempts therefore draw from a range that doubles, so that a thousand
    /// hosts find their names within a dozen rounds.
    private static let countedAttempts = 3
    private static let rangeLimit = 1 << 16

    /// Chooses the next number.
    package mutating func next(_ random: inout some RandomNumberGenerator) {
        attempts += 1
        guard attempts > Self.countedAttempts else {
            number += 1
            return
        }
        let range = min(1 << attempts, Self.rangeLimit)
        number += Int.random(in: 1...range, using: &random)
    }
}
