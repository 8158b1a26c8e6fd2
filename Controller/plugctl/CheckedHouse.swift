import DaemonClient
import PlugClient
import PlugModel
import PowerHistory
import Presentation
import RuleChecks
import RuleEditing

/// Collects the plugs that rules may mention: the plugs in the history, and the daemon's plugs or, without a daemon,
/// the paired plugs.
struct CheckedHouse {
    /// The daemon to ask; nil without one.
    let daemon: DaemonClient?
    /// The history to read; nil without one.
    let history: PowerHistory?

    /// Returns the plugs, sorted by name; nil if no source has any plug.
    func plugs() async -> [KnownPlug]? {
        RuleCheckContext.plugs(await present() ?? paired(), in: history)
    }

    /// Returns the names and capabilities of the daemon's plugs; nil if no daemon answers.
    private func present() async -> [(name: String, capabilities: Set<Capability>?)]? {
        guard let daemon, let records = try? await daemon.read([PlugRecord].self, "/api/v1/plugs") else { return nil }
        return records.map { record in
            (record.plug, record.capabilities.map { Set($0.compactMap { Capability(rawValue: $0) }) })
        }
    }

    private func paired() -> [(name: String, capabilities: Set<Capability>?)] {
        // Without pairings the file is missing. Errors in the file are reported by the commands that need it.
        let entries = (try? PairedPlugs().all()) ?? []
        return entries.map { ($0.name, nil) }
    }
}
