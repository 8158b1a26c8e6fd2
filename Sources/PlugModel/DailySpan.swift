/// A span of each day in local time, in whole minutes. It may cross midnight.
public struct DailySpan: Hashable, Sendable, CustomStringConvertible {
    /// The minutes of a day.
    public static let minutesOfDay = 1440
    /// The span without a minute.
    public static let never = DailySpan(from: 0, until: 0)!

    /// The first minute of the span, counted from midnight.
    public let from: Int
    /// The first minute after the span.
    public let until: Int

    /// Creates a span. Equal minutes are the empty span. Nil if a minute is not in 0 ..< 1440.
    public init?(from: Int, until: Int) {
        let minutes = 0..<Self.minutesOfDay
        guard minutes.contains(from), minutes.contains(until) else { return nil }
        // There is only one empty span, so that equal spans are equal values.
        (self.from, self.until) = from == until ? (0, 0) : (from, until)
    }

    /// Parses a text such as "22:00-07:00", or "never". Nil for other text, and for a span with equal ends, which could
    /// mean the whole day or no minute.
    public init?(text: String) {
        if text == "never" {
            self = .never
            return
        }
        let bytes = Array(text.utf8)
        guard bytes.count == 11, bytes[5] == UInt8(ascii: "-"), let from = Self.minute(bytes[..<5]),
            let until = Self.minute(bytes[6...]), from != until
        else { return nil }
        self.init(from: from, until: until)
    }

    /// Returns true if the span has the minute.
    public func contains(_ minute: Int) -> Bool {
        from <= until ? (from..<until).contains(minute) : minute >= from || minute < until
    }

    /// The text that ``init(text:)`` parses.
    public var description: String {
        self == .never ? "never" : "\(Self.text(from))-\(Self.text(until))"
    }

    /// Parses "HH:MM".
    private static func minute(_ bytes: ArraySlice<UInt8>) -> Int? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { digits.contains($0) } }),
            let hour = Int(String(decoding: parts[0], as: UTF8.self)), hour < 24,
            let minute = Int(String(decoding: parts[1], as: UTF8.self)), minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    private static func text(_ minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return (hour < 10 ? "0" : "") + "\(hour):" + (rest < 10 ? "0" : "") + "\(rest)"
    }
}
