public import HouseCalendar
import LinuxSystem
public import ProtocolCore
import RuleModel

/// Computes sunrise and sunset on days of the local calendar (counted from 1970-01-01). `instant` converts seconds
/// since 1970 (UTC) to the controller's clock.
public typealias SunTable = @Sendable (_ days: ClosedRange<Int64>, _ instant: (Int64) -> Instant) -> SunTimes

/// Tracks how the local wall clock relates to the controller's monotonic clock, as a table for the next year. The table
/// is computed again each day, and when the wall clock or the time zone changes.
struct WallClockWatch {
    /// The maximum difference that is ignored. Both clocks run at the same rate, even while the network adjusts the
    /// wall clock. Their difference changes when the wall clock is set, and slightly at each check, because the two
    /// clocks are not read at the same instant.
    static let tolerance = Duration.milliseconds(4)
    /// The delay that is added to each second, so that no rule runs before the second it specifies, despite the
    /// tolerance.
    static let lateness = Duration.milliseconds(5)
    /// The time after which the table is computed again.
    static let lifetime = Duration.seconds(86_400)
    /// The interval at which the offsets of the host's time zone are compared with those in the table. A new time zone
    /// may have the same offset as the previous one now, and a different one in another season.
    static let comparison = Duration.seconds(30)
    /// The number of past and future days in the table. Past days are needed for energy periods that began then.
    private static let before: Int64 = 40
    private static let after: Int64 = 370
    private static let day: Int64 = 86_400

    private var made: (at: Instant, origin: Int64, offset: Int)?
    /// The offsets of the host's time zone, their span in seconds since 1970, and the time of the last comparison with
    /// the zone.
    private var known: (offsets: LocalOffsets, from: Int, to: Int, compared: Instant)?

    /// Checks the clocks and returns a new table if something changed, or nil.
    ///
    /// - Parameters:
    ///   - wall: Nanoseconds since 1970 (UTC) at `now`.
    ///   - now: The controller's clock.
    ///   - sun: Computes sunrise and sunset; nil if the location is unknown.
    ///   - offset: Returns the seconds that local time is ahead of UTC at a second since 1970.
    mutating func look(
        wall: Int64, now: Instant, sun: SunTable?, offset: (Int) -> Int
    ) -> (time: LocalTime, sun: SunTimes)? {
        let origin = wall - now.nanoseconds
        let current = offset(Int(wall / 1_000_000_000))
        if let made, now - made.at < Self.lifetime, made.offset == current,
            (origin - made.origin).magnitude <= UInt64(Self.tolerance.wholeNanoseconds), !hasNewZone(now, offset)
        {
            return nil
        }
        made = (now, origin, current)
        let second = wall / 1_000_000_000
        let late = origin - Self.lateness.wholeNanoseconds
        // Rounded up, so that the phase is not negative.
        let apart = late / 1_000_000_000 + (late % 1_000_000_000 > 0 ? 1 : 0)
        let phase = apart * 1_000_000_000 - late
        func instant(_ second: Int64) -> Instant { Instant(nanoseconds: (second - apart) * 1_000_000_000 + phase) }
        let first = second - Self.before * Self.day
        let last = second + Self.after * Self.day
        let offsets = LocalOffsets(from: Int(first), to: Int(last), offset: offset)
        known = (offsets, Int(first), Int(last), now)
        var pieces = [LocalTime.Piece(from: instant(first), offset: apart + Int64(offsets.initial))]
        pieces += offsets.changes.map { .init(from: instant(Int64($0.second)), offset: apart + Int64($0.offset)) }
        let today = (second + Int64(current)) / Self.day
        let times = sun?(today - 3...today + Self.after, instant) ?? .unknown
        return (LocalTime(pieces: pieces, phase: .nanoseconds(phase)), times)
    }

    private mutating func hasNewZone(_ now: Instant, _ offset: (Int) -> Int) -> Bool {
        guard let old = known, now - old.compared >= Self.comparison else { return false }
        known?.compared = now
        return LocalOffsets(from: old.from, to: old.to, offset: offset) != old.offsets
    }
}
