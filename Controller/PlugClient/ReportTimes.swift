import LinuxClocks
import PlugModel
import ProtocolCore

/// The wall-clock times of what a plug reports.
///
/// They follow from ages, so they stay true when the wall clock of either side is set. An age is known to some milliseconds
/// only, and each is a new estimate; the events of one boot still keep the order in which they happened.
struct ReportTimes {
    /// What an estimate may be off at most; a larger step backwards is that of a wall clock, and is told as it is.
    static let tolerance: Int64 = 1_000_000_000

    private var last: (boot: BootID, at: WallTime)?

    /// When it happened: an event by its age, a reading and a line of the log by the plug's clock, the rest now.
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
