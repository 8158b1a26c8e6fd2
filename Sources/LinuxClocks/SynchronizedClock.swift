import Glibc

/// Civil time where the host's time service has set it since boot. A board without a battery for its clock begins with the time at which it
/// was turned off, or with 1970, and nothing else tells that from the right one.
public enum SynchronizedClock {
    /// systemd-timesyncd makes it when it has set the clock. The kernel knows too (adjtimex(2)), but a sandbox that lets a program
    /// ask would let it set the clock.
    private static let mark = "/run/systemd/timesync/synchronized"

    /// Nil as long as the clock is not set.
    public static var now: WallTime? { access(mark, F_OK) == 0 ? .now : nil }
}
