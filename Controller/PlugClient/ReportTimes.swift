import LinuxSystem
import PlugModel
import ProtocolCore

/// Computes the wall-clock times of reports.
///
/// The times are computed from ages, so they stay correct when the wall clock of either side is set. Each age is a new
/// estimate with an error of some milliseconds; events of one boot nevertheless keep their order.
struct ReportTimes {
    /// The maximum error of an estimate in nanoseconds. An estimate that is earlier than the previous one by more than
    /// this error means that a wall clock was set. This estimate is reported unchanged.
    static let tolerance: Int64 = 1_000_000_000

    private var last: (boot: BootID, at: WallTime)?

    /// Returns the time of an update: from its age for an event, from the plug's clock for a reading and a log line,
    /// and the current time for other updates.
    mutating func time(of update: PlugUpdate, clock: ClockMapping?, now: Instant, wall: WallTime) -> WallTime {
        switch update {
        case .event(let event, let age): return age.map { time(of: event, wall - $0) } ?? wall
        case .state(let state), .snapshot(let state):
            guard let time = state.reading?.time, let clock else { return wall }
            return wall - max(.zero, now - clock.instant(ofPlugTime: time))
        case .log(.line(let line)):
            guard let clock else { return wall }
            return wall - max(.zero, now - clock.instant(ofPlugTime: line.time))
        case .connected, .following, .gap, .log, .disconnected: return wall
        }
    }

    private mutating func time(of event: PlugEvent, _ estimate: WallTime) -> WallTime {
        var at = estimate
        if let last, last.boot == event.boot {
            let backwards = last.at.nanosecondsSince1970 - at.nanosecondsSince1970
            if (1..<Self.tolerance).contains(backwards) { at = last.at }
        }
        last = (event.boot, at)
        return at
    }
}
