import Glibc

/// The civil time, if systemd-timesyncd has set the clock since boot. A board without a battery-backed clock starts
/// with the time of its last shutdown or with 1970, and the time alone does not show that it is wrong.
public enum SynchronizedClock {
    /// The file that systemd-timesyncd creates when it has set the clock. The kernel has this information too
    /// (adjtimex(2)), but a sandbox that permits the query also permits setting the clock.
    private static let mark = "/run/systemd/timesync/synchronized"

    /// The current time, or nil while systemd-timesyncd has not set the clock.
    public static var now: WallTime? { access(mark, F_OK) == 0 ? .now : nil }
}
