import Glibc
public import ProtocolCore

/// The clock of every machine on a real host: monotonic, and still counting while the host is suspended.
public enum BootClock {
    /// Nanoseconds since boot, from CLOCK_BOOTTIME.
    public static var now: Instant {
        var time = timespec()
        guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else {
            preconditionFailure("CLOCK_BOOTTIME exists on every kernel since 2.6.39")
        }
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
