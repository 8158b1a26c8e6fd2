/// A month of the calendar.
public struct FleetMonth: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The range of valid years.
    private static let years = 2000...2999

    /// The year, 2000 to 2999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int

    /// Creates a month; nil if the month or year is out of range.
    public init?(year: Int, month: Int) {
        guard Self.years.contains(year), (1...12).contains(month) else { return nil }
        self.year = year
        self.month = month
    }

    /// Parses a month such as `2026-11`; nil if it is not valid.
    public init?(_ written: String) {
        let parts = written.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 4, parts[1].count == 2,
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }), let year = Int(Substring(parts[0])),
            let month = Int(Substring(parts[1]))
        else { return nil }
        self.init(year: year, month: month)
    }

    /// The text that ``init(_:)`` parses.
    public var description: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }
    var firstDay: String { "\(self)-01" }

    /// The next month. The last valid month is its own next month.
    var next: FleetMonth {
        FleetMonth(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1) ?? self
    }

    /// The previous month. The first valid month is its own previous month.
    public var before: FleetMonth {
        FleetMonth(year: month == 1 ? year - 1 : year, month: month == 1 ? 12 : month - 1) ?? self
    }

    /// Orders months by time.
    public static func < (one: FleetMonth, other: FleetMonth) -> Bool {
        (one.year, one.month) < (other.year, other.month)
    }
}
