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
        guard let today else { return [:] }
        if let daemon {
            let since = (WallTime(nanosecondsSince1970: 0) + .seconds(today.from)).iso8601()
            let records = try? await daemon.read(
                [EnergyRecord].self, "/api/v1/energy", [("by", "day"), ("from", since)])
            if let records { return records.reduce(into: [:]) { $0[$1.plug, default: 0] += $1.activeEnergy } }
        }
        return recorded(today)
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
