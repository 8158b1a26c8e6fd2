import DaemonClient
import LinuxClocks
import LocalCalendar
import PowerHistory
import Presentation

/// What plugs drew since midnight, as far as a daemon recorded it.
struct EnergyToday: Sendable {
    /// Nil where none is asked.
    let daemon: DaemonClient?
    /// Nil where there is none.
    let history: PowerHistory?

    /// Wh by the plugs' names. Empty where nobody knows: a table without it is of use, too.
    func read() async -> [String: Double] {
        if let daemon {
            // The day is the daemon's, which may have another time zone than this process: of the days that touch the last second,
            // it is the one that is not over.
            let now = WallTime.now
            let records = try? await daemon.read(
                [EnergyRecord].self, "/api/v1/energy", [("by", "day"), ("from", (now - .seconds(1)).iso8601())])
            if let records {
                return records.filter { $0.contains(now) }
                    .reduce(into: [:]) { $0[$1.plug, default: 0] += $1.activeEnergy }
            }
        }
        return today.map(recorded) ?? [:]
    }

    private func recorded(_ today: CalendarPeriod) -> [String: Double] {
        guard let history else { return [:] }
        var energies: [String: Double] = [:]
        do throws(HistoryError) {
            for plug in try history.plugs() {
                let found = try history.energy(of: plug.id, periods: [today])
                energies[plug.title] = found.reduce(0) { $0 + $1.milliwattHours } / 1000
            }
        } catch {
            // `plugctl history` says what is wrong with it.
            return [:]
        }
        return energies
    }

    private var today: CalendarPeriod? {
        let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
        let margin = 3 * 86_400
        let zone = ZoneOffsets.local(from: now - margin, to: now + margin)
        return CalendarPeriod.all(.day, from: now, to: now + 1, zone: zone)?.first
    }
}
