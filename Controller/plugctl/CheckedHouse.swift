import DaemonClient
import LinuxSystem
import PlugClient
import PlugModel
import PowerHistory
import Presentation
import RuleChecks

/// Collects the plugs that rules may mention: the plugs in the history, and the daemon's plugs or, without a daemon,
/// the paired plugs.
struct CheckedHouse {
    /// The daemon to ask; nil without one.
    let daemon: DaemonClient?
    /// The history to read; nil without one.
    let history: PowerHistory?

    /// Returns the plugs, sorted by name; nil if no source has any plug.
    func plugs() async -> [KnownPlug]? {
        let powers = recordedPowers()
        var plugs: [String: KnownPlug] = [:]
        for name in powers.keys { plugs[name] = KnownPlug(name: name, activePower: powers[name] ?? nil) }
        for (name, capabilities) in await present() ?? paired() {
            plugs[name, default: KnownPlug(name: name)].capabilities = capabilities
        }
        return plugs.isEmpty ? nil : plugs.values.sorted { $0.name < $1.name }
    }

    /// Returns the names and capabilities of the daemon's plugs; nil if no daemon answers.
    private func present() async -> [(String, Set<Capability>?)]? {
        guard let daemon, let records = try? await daemon.read([PlugRecord].self, "/api/v1/plugs") else { return nil }
        return records.map { record in
            (record.plug, record.capabilities.map { Set($0.compactMap { Capability(rawValue: $0) }) })
        }
    }

    private func paired() -> [(String, Set<Capability>?)] {
        // Without pairings the file is missing. Errors in the file are reported by the commands that need it.
        let entries = (try? PairedPlugs().all()) ?? []
        return entries.map { ($0.name, nil) }
    }

    /// Returns the least and the greatest power of the last 30 days in W, by name; nil for a plug that drew no power.
    private func recordedPowers() -> [String: ClosedRange<Double>?] {
        guard let history else { return [:] }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        var powers: [String: ClosedRange<Double>?] = [:]
        do throws(HistoryError) {
            for plug in try history.plugs() where !plug.name.isEmpty {
                let days = try history.summaries(
                    of: plug.id, step: .day, from: now - 30 * RollUpStep.day.milliseconds, to: now)
                // The samples of a plug that was never turned on do not show the power of its appliance.
                guard let greatest = days.map(\.greatest).max(), let least = days.map(\.least).min(), greatest > 0
                else {
                    powers.updateValue(nil, forKey: plug.name)
                    continue
                }
                powers[plug.name] = least...greatest
            }
        } catch {
            // `plugctl history` reports the error.
            return powers
        }
        return powers
    }
}
