internal import Glibc
import LinuxSystem
import ProtocolCore
import Synchronization

extension ScriptTime {
    /// The zone's offsets from 1970 to 2070, and the time of the lookup. They are cached because a lookup takes some
    /// milliseconds.
    private static let zone = Mutex<(offsets: LocalOffsets, made: Instant)?>(nil)
    private static let zoneEnd = 3_155_760_000
    private static let zoneLifetime = Duration.seconds(30)

    /// The current time, by the host's clock and time zone.
    public static var now: ScriptTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return ScriptTime(local: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
    }

    /// A time in the host's time zone.
    ///
    /// - Parameter seconds: seconds since 1970, UTC.
    init(local seconds: Double) {
        self.init(
            at: seconds, offset: HostZone.offset(at: Int(seconds.rounded(.down))), zone: Self.hostZone(now: .now))
    }

    private static func hostZone(now: Instant) -> LocalOffsets {
        zone.withLock { zone in
            if let known = zone, now - known.made < zoneLifetime { return known.offsets }
            let offsets = LocalOffsets(from: 0, to: zoneEnd)
            zone = (offsets, now)
            return offsets
        }
    }
}

extension Instant {
    /// The time since boot including suspend (CLOCK_BOOTTIME), as in the rest of the controller.
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
