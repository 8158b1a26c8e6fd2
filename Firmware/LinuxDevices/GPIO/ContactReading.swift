import Glibc
import PlugHardware
import ProtocolCore

/// Makes edges of a button's contact out of what the kernel tells of its line.
struct ContactReading {
    /// What was told last.
    private(set) var isDown = false
    private var latest: Instant?
    /// The contact was closed when it was first looked at. Nobody is known to have pressed it: a stuck or held button must not
    /// turn anything over, nor take a plug back to its factory state. It means nothing until it has been up once.
    private var awaitsRelease: Bool

    init(isDown: Bool) { awaitsRelease = isDown }

    /// - Returns: what is to be told, if anything is. Its time never runs backwards.
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
    /// Nanoseconds of CLOCK_MONOTONIC, on which the kernel stamps edges.
    var monotonic: UInt64
    /// CLOCK_BOOTTIME, which is the plug's.
    var boot: Instant

    static func read() -> ClockPair {
        ClockPair(monotonic: read(CLOCK_MONOTONIC), boot: Instant(nanoseconds: Int64(read(CLOCK_BOOTTIME))))
    }

    /// The plug's time of an edge. A stamp of the future is of another clock, as kernels before 5.7 made them: such an edge
    /// was now.
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
