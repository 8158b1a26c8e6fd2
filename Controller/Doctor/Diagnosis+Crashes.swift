import PlugModel
import ProtocolCore

extension Diagnosis {
    /// Describes the last abnormal end of a plug's firmware. A crash before the current boot is reported without a
    /// warning.
    static func crash(of plug: Observations.Plug, now: Instant) -> Finding? {
        guard let crash = plug.crash else { return nil }
        let lines = crash.report.split(separator: "\n").map(String.init)
        let cause = lines.first { $0.hasPrefix("signal ") || $0.hasPrefix("killed") } ?? "unknown cause"
        let name = plug.announcedAs ?? plug.name
        guard crash.count > 0 else {
            return Finding(
                .ok, .plug, name, "its firmware crashed in an earlier boot: \(cause)",
                why: lines.joined(separator: "; "))
        }
        let ago = crash.at.map { " \(seconds(now - $0)) ago" } ?? ""
        let times = crash.count == 1 ? "once" : "\(crash.count) times"
        return Finding(
            .warning, .plug, name, "its firmware crashed\(ago), \(times) since it booted: \(cause)",
            why: lines.joined(separator: "; "),
            next:
                "report this with the previous lines of the plug's log (journalctl -u plugd)"
        )
    }
}
