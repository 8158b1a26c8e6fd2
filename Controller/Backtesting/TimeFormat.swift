import HouseCalendar

/// Formats times and spans for texts and JSON. Times are milliseconds since 1970.
enum TimeFormat {
    /// Local time: `2012-01-21 18:02:11`.
    static func local(_ milliseconds: Int64, _ zone: ZoneOffsets) -> String {
        let seconds = Double(milliseconds) / 1000
        let civil = CivilTime(localSeconds: seconds + Double(zone.offset(at: seconds)))
        return date(civil) + " " + civil.clockWithSeconds
    }

    /// Local time without the date: `18:02:11`.
    static func clock(_ milliseconds: Int64, _ zone: ZoneOffsets) -> String {
        String(local(milliseconds, zone).suffix(8))
    }

    /// The time in ISO 8601, in UTC and with milliseconds: `2012-01-21T17:02:11.000Z`.
    static func iso8601(_ milliseconds: Int64) -> String {
        let civil = CivilTime(localSeconds: (Double(milliseconds) / 1000).rounded(.down))
        let rest = (milliseconds % 1000 + 1000) % 1000
        return date(civil) + "T" + civil.clockWithSeconds + "." + padded(Int(rest), 3) + "Z"
    }

    /// The length of a span: `42 s`, `3 min 5 s`, `2 h 10 min`; in milliseconds below one second.
    static func span(_ milliseconds: Int64) -> String {
        let length = milliseconds.magnitude
        guard length >= 1000 else { return "\(length) ms" }
        let seconds = (length + 500) / 1000
        if seconds < 60 { return "\(seconds) s" }
        let (minutes, rest) = (seconds / 60, seconds % 60)
        if minutes < 60 { return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s" }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// The number, rounded to one decimal. A decimal of zero is omitted.
    static func number(_ value: Double) -> String {
        guard value.magnitude < 1e12 else { return "\(value)" }
        let tenths = Int64((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return "\(sign)\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }

    private static func date(_ civil: CivilTime) -> String {
        padded(civil.year, 4) + "-" + padded(civil.month, 2) + "-" + padded(civil.day, 2)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
