import ArgumentParser
import HouseCalendar
import LinuxSystem

/// A local time as users write it: `2026-11-20`, `2026-11-20T07:30`, `2026-11-20 07:30:15`.
struct Moment: ExpressibleByArgument, CustomStringConvertible {
    /// Milliseconds since 1970, UTC.
    let milliseconds: Int64
    let description: String

    init?(argument: String) {
        guard let civil = CivilTime(parsing: argument) else { return nil }
        let local = Int(civil.localSeconds)
        func offset(at second: Int) -> Int { (WallTime(nanosecondsSince1970: 0) + .seconds(second)).localOffset }
        // The offset of the previous day has priority, so a time that occurs twice in autumn means summer time.
        let offsets = [offset(at: local - 86_400), offset(at: local - offset(at: local))]
        let shown = offsets.first { offset(at: local - $0) == $0 }
        milliseconds = Int64(local - (shown ?? offsets[1])) * 1000
        description = argument
    }
}

/// The time window of a chart or a table.
struct WindowOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "The time span up to now: 10m, 2h, 30d, 8w, 3y.")
    var last: PastSpan?
    @Option(help: "The beginning, in local time: 2026-11-20, 2026-11-20T07:30.")
    var from: Moment?
    @Option(help: "The end, in local time. (default: now)")
    var to: Moment?

    func validate() throws {
        if last != nil, from != nil || to != nil {
            throw ValidationError("--last cannot be combined with --from or --to")
        }
        if let last, last.duration < .seconds(1) { throw ValidationError("--last must be at least 1s") }
        if to != nil, from == nil { throw ValidationError("--to requires --from") }
        if let from, let to, from.milliseconds >= to.milliseconds {
            throw ValidationError("--from \(from) is not before --to \(to)")
        }
        if let from, to == nil, from.milliseconds > WallTime.now.nanosecondsSince1970 / 1_000_000 {
            throw ValidationError("--from \(from) is in the future")
        }
    }

    /// Returns the window in milliseconds since 1970, both ends included.
    ///
    /// - Parameter span: The length of the window if the user does not set it.
    func span(default span: Duration) -> ClosedRange<Int64> {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        if let from { return from.milliseconds...max(from.milliseconds, to?.milliseconds ?? now) }
        let (seconds, attoseconds) = (last?.duration ?? span).components
        return now - seconds * 1000 - attoseconds / 1_000_000_000_000_000...now
    }
}
