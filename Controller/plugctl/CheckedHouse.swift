import Automation
import DaemonClient
import LinuxClocks
import PlugClient
import PlugModel
import PowerHistory
import Presentation

/// The plugs that rules can be about, as far as somebody here knows of them: the daemon, else who is paired, and the history.
struct CheckedHouse {
    /// Nil where none is asked.
    let daemon: DaemonClient?
    /// Nil where there is none.
    let history: PowerHistory?

    /// Nil where nobody knows of any plug.
    func plugs() async -> [KnownPlug]? {
        let powers = recordedPowers()
        var plugs: [String: KnownPlug] = [:]
        for name in powers.keys { plugs[name] = KnownPlug(name: name, activePower: powers[name] ?? nil) }
        for (name, capabilities) in await present() ?? paired() {
            plugs[name, default: KnownPlug(name: name)].capabilities = capabilities
        }
        return plugs.isEmpty ? nil : plugs.values.sorted { $0.name < $1.name }
    }

    /// Nil where no daemon answers.
    private func present() async -> [(String, Set<Capability>?)]? {
        guard let daemon, let records = try? await daemon.read([PlugRecord].self, "/api/v1/plugs") else { return nil }
        return records.map { record in
            (record.plug, record.capabilities.map { Set($0.compactMap { Capability(rawValue: $0) }) })
        }
    }

    private func paired() -> [(String, Set<Capability>?)] {
        // Who is paired with nothing has no file, and what is wrong with one is told by whoever needs it.
        let entries = (try? PairedPlugs().all()) ?? []
        return entries.map { ($0.name, nil) }
    }

    /// Least and greatest power of the last 30 days, by name; nil of a plug that did not draw any.
    private func recordedPowers() -> [String: ClosedRange<Double>?] {
        guard let history else { return [:] }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        var powers: [String: ClosedRange<Double>?] = [:]
        do throws(HistoryError) {
            for plug in try history.plugs() where !plug.name.isEmpty {
                let days = try history.summaries(
                    of: plug.id, step: .day, from: now - 30 * RollUpStep.day.milliseconds, to: now)
                // What was never turned on tells nothing.
                guard let greatest = days.map(\.greatest).max(), let least = days.map(\.least).min(), greatest > 0
                else {
                    powers.updateValue(nil, forKey: plug.name)
                    continue
                }
                powers[plug.name] = least...greatest
            }
        } catch {
            // `plugctl history` says what is wrong with it.
            return powers
        }
        return powers
    }
}
