import LinuxSystem
import NIOCore

/// Reads the wall clock for the time of day in which the light is dark.
extension PlugService {
    /// Reports the minute of the day now and in each new minute. A clock that was set and daylight saving time
    /// therefore take effect within a minute.
    func watchClock() {
        guard settings.parts.lamp != nil, !machine.isStopped else { return }
        // The mark of the time service remains when the service loses its server, because the clock stays nearly right.
        handle(.appliance(.minuteOfDay(SynchronizedClock.now?.localMinuteOfDay)))
        let rest = TimeAmount.seconds(Int64(60 - WallTime.now.secondOfMinute))
        clock = loop.scheduleTask(in: rest) { [weak self] in self?.assumeIsolated { $0.watchClock() } }
    }
}
