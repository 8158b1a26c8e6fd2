import LinuxSystem
public import PlugModel
import ProtocolCore

extension FollowedPlug {
    /// Subscribes to the plug's log: first the lines that the plug has stored, then each new line. ``reports`` deliver
    /// the lines, and a notice if the plug refuses the subscription or when the subscription ends. The subscription
    /// continues across connections.
    ///
    /// - Parameters:
    ///   - level: The lowest level to receive.
    ///   - duration: The duration of the subscription. If nil, the subscription lasts as long as the plug is followed.
    public func followLog(_ level: LogLevel, for duration: Duration? = nil) {
        handle(.followLog(level, until: duration.map { BootClock.now + $0 }))
    }
}
