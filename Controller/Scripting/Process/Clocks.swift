import ProtocolCore
internal import Glibc

extension ScriptTime {
    /// As the clock of the wall and the time zone of the system have it.
    public static var now: ScriptTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var seconds = time.tv_sec
        var local = tm()
        localtime_r(&seconds, &local)
        return ScriptTime(at: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9, offset: local.tm_gmtoff)
    }
}

extension Instant {
    /// Counts while the machine sleeps, as the controller's clock does.
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
