public import Automation
import LinuxClocks
public import ProtocolCore

/// Where the sun rises and sets on days of the local calendar (since 1970-01-01): `instant` takes a second since 1970, UTC, to the
/// controller's clock.
public typealias SunTable = @Sendable (_ days: ClosedRange<Int64>, _ instant: (Int64) -> Instant) -> SunTimes

/// The local wall clock beside the controller's own, as a value for the year at hand: made anew each day, and when somebody sets the
/// clock.
struct WallClockWatch {
    /// The two clocks run at the same pace, also while the network keeps one right; they come apart when somebody sets the wall clock,
    /// and by less where they could not be read in one moment.
    static let tolerance = Duration.milliseconds(4)
    /// Seconds are taken to begin so much later than they do: no rule runs before the second that it names, whatever the tolerance.
    static let lateness = Duration.milliseconds(5)
    static let lifetime = Duration.seconds(86_400)
    /// How often the offsets are compared: a new time zone may differ from the previous one only in another season.
    static let comparison = Duration.seconds(30)
    /// Days that are known back, for the period of an energy that began then, and ahead.
    private static let before: Int64 = 40
    private static let after: Int64 = 370
    private static let day: Int64 = 86_400

    private var made: (at: Instant, origin: Int64, offset: Int)?
    /// The offsets that were made of the host's zone, with their span, and when they were compared with the zone last.
    private var known: (offsets: LocalOffsets, from: Int, to: Int, compared: Instant)?

    /// What is new since the last look; nil where nothing is.
    ///
    /// - Parameters:
    ///   - wall: nanoseconds since 1970, UTC, at `now`.
    ///   - offset: seconds that local time is ahead of UTC at a second since 1970.
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
        // Rounded up, so that the phase is none of the past.
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
