import LinuxClocks
public import PlugModel
import ProtocolCore

extension FollowedPlug {
    /// Has the plug tell its log from this level on, for so long or until it is no longer followed: first what it remembers,
    /// then each line when it is written. ``reports`` have it, `refused` and the end included. It goes on over as many
    /// connections as that takes.
    public func followLog(_ level: LogLevel, for duration: Duration? = nil) {
        handle(.followLog(level, until: duration.map { BootClock.now + $0 }))
    }
}
