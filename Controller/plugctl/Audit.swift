import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show a plug's audit log: who changed the plug, or tried to.",
        discussion: """
            The log records pairings and removals, refused requests, changes of name, settings, roles, setup code and keys, firmware
            starts and factory resets, and when hosts on the internet can connect because the router maps the plug's port. The plug
            keeps the last 1000 entries and the last 200 refusals in flash, so they survive a power failure. Repeated refusals within
            an hour are counted in one entry. A factory reset clears the log and is its first entry.

            Times are in this machine's time zone, oldest first. A plug has no battery-backed clock: for entries from before a power
            failure or reboot, only the order is known.

            Examples:
              plugctl audit Lamp
              plugctl audit Lamp --limit 20
              plugctl audit Lamp --json | jq -r 'select(.outcome == "refused") | .detail'
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(parsing: .unconditional, help: "Show only the newest N entries.")
    var limit: Int?
    @Flag(
        help:
            "One JSON object per line: plug, number, at, kind, outcome (done or refused), by, name, key, detail, count."
    )
    var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1, not \(limit)") }
    }

    func run() async throws {
        try await network.withConnected(name) { plug, _ in
            let entries: [DatedAuditEntry]
            do {
                entries = try await plug.audit(limit: limit)
            } catch let refusal as Refusal {
                throw CLIError("\(plug.name): \(refusal.detail)\n\(hint(refusal))")
            }
            for record in entries.map({ AuditRecord($0, plug: plug.name) }) {
                guard json ? Output.json(record) : Output.safeLine(record.text) else { return }
            }
        }
    }

    private func hint(_ refusal: Refusal) -> String {
        refusal.code == .unsupported ? "hint: update the plug's firmware" : "hint: try again"
    }
}
