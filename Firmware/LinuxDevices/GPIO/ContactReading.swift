import Glibc
import PlugHardware
import ProtocolCore

/// Converts the kernel's events of a button's line to edges of its contact.
struct ContactReading {
    /// The last reported state.
    private(set) var isDown = false
    private var latest: Instant?
    /// True while the contact has been closed since the first reading. A stuck or held button must neither toggle the
    /// relay nor reset the plug, so it is ignored until its first release.
    private var awaitsRelease: Bool

    init(isDown: Bool) { awaitsRelease = isDown }

    /// - Returns: the edge to report, or nil. Its time never runs backwards.
    mutating func edge(down: Bool, at time: Instant) -> ButtonEdge? {
        if awaitsRelease, down { return nil }
        awaitsRelease = false
        isDown = down
        let time = max(latest ?? time, time)
        latest = time
        return ButtonEdge(down: down, time: time)
    }
}

/// The two clocks at one moment.
struct ClockPair {
    /// Nanoseconds of CLOCK_MONOTONIC, the clock of the kernel's edge timestamps.
    var monotonic: UInt64
    /// CLOCK_BOOTTIME, the plug's clock.
    var boot: Instant

    static func read() -> ClockPair {
        ClockPair(monotonic: read(CLOCK_MONOTONIC), boot: Instant(nanoseconds: Int64(read(CLOCK_BOOTTIME))))
    }

    /// Converts the timestamp of an edge to the plug's time. A timestamp in the future is from a different clock, as in
    /// kernels before 5.7; such an edge counts as current.
    func instant(of stamp: UInt64) -> Instant {
        guard stamp <= monotonic else { return boot }
        return boot - .nanoseconds(Int64(monotonic - stamp))
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else {
            preconditionFailure("both clocks exist on every kernel since 2.6.39")
        }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
