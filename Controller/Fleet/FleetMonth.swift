/// A month of the calendar.
public struct FleetMonth: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// Years that a plug may have lived in.
    private static let years = 2000...2999

    public let year: Int
    /// 1 to 12.
    public let month: Int

    /// Nil for a month that there is not.
    public init?(year: Int, month: Int) {
        guard Self.years.contains(year), (1...12).contains(month) else { return nil }
        self.year = year
        self.month = month
    }

    /// - Parameter written: `2026-11`.
    public init?(_ written: String) {
        let parts = written.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 4, parts[1].count == 2,
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }), let year = Int(Substring(parts[0])),
            let month = Int(Substring(parts[1]))
        else { return nil }
        self.init(year: year, month: month)
    }

    public var description: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }
    var firstDay: String { "\(self)-01" }

    /// The last one is its own next: there is no later one.
    var next: FleetMonth {
        FleetMonth(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1) ?? self
    }

    /// The first one is its own.
    public var before: FleetMonth {
        FleetMonth(year: month == 1 ? year - 1 : year, month: month == 1 ? 12 : month - 1) ?? self
    }

    public static func < (one: FleetMonth, other: FleetMonth) -> Bool {
        (one.year, one.month) < (other.year, other.month)
    }
}
