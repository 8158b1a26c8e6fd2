import Glibc
public import ProtocolCore

/// The monotonic clock of a real host, which also counts while the host is suspended. The shells pass its time to the
/// machines.
public enum BootClock {
    /// Nanoseconds since boot, from CLOCK_BOOTTIME.
    public static var now: Instant {
        read(CLOCK_BOOTTIME)
    }

    /// The total time of suspension since boot: the difference between CLOCK_BOOTTIME and CLOCK_MONOTONIC. The error is
    /// at most the time between the two system calls.
    public static var timeAsleep: Duration { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Instant {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else {
            preconditionFailure("both clocks exist on every kernel since 2.6.39")
        }
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
