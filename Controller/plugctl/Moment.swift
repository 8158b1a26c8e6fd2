import ArgumentParser
import LinuxNetwork
import LocalCalendar

/// A time as people write it, on the clock of the wall: `2026-11-20`, `2026-11-20T07:30`, `2026-11-20 07:30:15`.
struct Moment: ExpressibleByArgument, CustomStringConvertible {
    /// Since 1970, UTC.
    let milliseconds: Int64
    let description: String

    init?(argument: String) {
        let halves = argument.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        guard let date = Self.numbers(halves[0], separator: "-", digits: [4, 2, 2]) else { return nil }
        var time = [0, 0, 0]
        if halves.count == 2 {
            let clock = [[2, 2], [2, 2, 2]].compactMap { Self.numbers(halves[1], separator: ":", digits: $0) }.first
            guard let clock else { return nil }
            time = clock + [0]
        }
        var civil = CivilTime(year: date[0], month: date[1], day: date[2])
        civil.hour = time[0]
        civil.minute = time[1]
        civil.second = time[2]
        // A date that no calendar has, such as 30 February, comes back as another.
        guard (1970...2200).contains(date[0]), (1...12).contains(date[1]), time[0] < 24, time[1] < 60, time[2] < 60,
            CivilTime(localSeconds: civil.localSeconds) == civil
        else { return nil }
        let local = Int(civil.localSeconds)
        // The offset at the time to which a first guess leads: right but for the hour that a change skips or repeats.
        func offset(at second: Int) -> Int { (WallTime(nanosecondsSince1970: 0) + .seconds(second)).localOffset }
        milliseconds = Int64(local - offset(at: local - offset(at: local))) * 1000
        description = argument
    }

    private static func numbers(_ text: Substring, separator: Character, digits: [Int]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == digits.count else { return nil }
        let numbers = zip(parts, digits).compactMap { part, count in
            part.utf8.count == count && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        return numbers.count == digits.count ? numbers : nil
    }
}

/// Which time a chart or a table is of.
struct WindowOptions: ParsableArguments {
    @Option(help: "The time up to now: 10m, 2h, 30d.")
    var last: TimeSpan?
    @Option(help: "From this local time on: 2026-11-20, 2026-11-20T07:30.")
    var from: Moment?
    @Option(help: "Up to this local time. (default: now)")
    var to: Moment?

    func validate() throws {
        if last != nil, from != nil || to != nil { throw ValidationError("--last goes alone, without --from and --to") }
        if let last, last.duration < .seconds(1) { throw ValidationError("--last is at least 1s") }
        if to != nil, from == nil { throw ValidationError("--to goes with --from") }
        if let from, let to, from.milliseconds >= to.milliseconds {
            throw ValidationError("--from \(from) is not before --to \(to)")
        }
    }

    /// Milliseconds since 1970, both included.
    ///
    /// - Parameter span: what is shown when nobody says.
    func span(default span: Duration) -> ClosedRange<Int64> {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        if let from { return from.milliseconds...max(from.milliseconds, to?.milliseconds ?? now) }
        let (seconds, attoseconds) = (last?.duration ?? span).components
        return now - seconds * 1000 - attoseconds / 1_000_000_000_000_000...now
    }
}
