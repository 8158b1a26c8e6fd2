import DaemonClient
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation

/// The energy of plugs since midnight, as recorded by a daemon.
struct EnergyToday: Sendable {
    /// The daemon to ask; nil without one.
    let daemon: DaemonClient?
    /// The history to read; nil without one.
    let history: PowerHistory?

    /// Returns the watt-hours by plug name. The result is empty without a source, because the table is also useful
    /// without energy.
    func read() async -> [String: Double] {
        if let daemon {
            // The day is that of the daemon, whose time zone may differ from this process's. Just after midnight, the
            // requested second extends over two days; only the record that contains the current time is used.
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
            // `plugctl history` reports the error.
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
