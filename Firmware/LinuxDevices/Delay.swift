import Glibc
import LinuxSystem

/// Calls `body` once after a delay, on a separate thread. It is meant for rare, short tasks, such as ending a relay's
/// pulse.
public func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = delay.components
    let run: @Sendable () -> Void = {
        var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
        body()
    }
    // If no thread can be created, the delay blocks the caller: a pulse that never ends would burn a coil.
    do { try startThread(named: "delay", run) } catch { run() }
}
