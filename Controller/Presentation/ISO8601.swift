import HouseCalendar
public import LinuxSystem

/// Returns a time in ISO 8601 as local time with milliseconds, such as "2026-11-21 10:01:23.456". Other text is returned
/// unchanged.
///
/// - Parameter digits: the number of characters to return; 19 for whole seconds, 16 for whole minutes.
public func localTime(_ iso8601: String, digits: Int = 23) -> String {
    guard let wall = WallTime(iso8601: iso8601) else { return iso8601 }
    return String(wall.iso8601(offset: wall.localOffset).prefix(digits)).replacing("T", with: " ")
}

extension WallTime {
    /// Parses a time: `2026-11-21T09:01:23.456Z`, `2026-11-21T10:01+01:00`; with up to nine decimals of a second.
    ///
    /// Returns nil for other text, a date that does not exist, a missing offset, and years outside 1970 to 2200.
    public init?(iso8601 text: String) {
        var clock = Substring(text)
        guard clock.utf8.count <= 40, clock.utf8.dropFirst(10).first == UInt8(ascii: "T"),
            let offset = Self.takeOffset(&clock)
        else { return nil }
        var nanoseconds: Int64 = 0
        if let point = clock.firstIndex(of: ".") {
            let digits = clock[point...].utf8.dropFirst()
            guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                clock[..<point].utf8.count == 19
            else { return nil }
            nanoseconds = Int64(String(Substring(digits)) + String(repeating: "0", count: 9 - digits.count)) ?? 0
            clock = clock[..<point]
        }
        guard let civil = CivilTime(parsing: String(clock)) else { return nil }
        let seconds = Int64(civil.localSeconds) - Int64(offset)
        self.init(nanosecondsSince1970: seconds * 1_000_000_000 + nanoseconds)
    }

    /// Removes the offset from the end and returns it in seconds east of UTC.
    private static func takeOffset(_ text: inout Substring) -> Int? {
        if text.utf8.last == UInt8(ascii: "Z") {
            text.removeLast()
            return 0
        }
        let tail = Array(text.utf8.suffix(6))
        let digits = [1, 2, 4, 5].compactMap { index in
            tail.indices.contains(index) && (0x30...0x39).contains(tail[index]) ? Int(tail[index]) - 0x30 : nil
        }
        guard tail.count == 6, tail[3] == UInt8(ascii: ":"), digits.count == 4,
            tail[0] == UInt8(ascii: "+") || tail[0] == UInt8(ascii: "-")
        else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        text = text.dropLast(6)
        return (hours * 3600 + minutes * 60) * (tail[0] == UInt8(ascii: "-") ? -1 : 1)
    }
}
