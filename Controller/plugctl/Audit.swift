import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show who changed a plug, or tried to: its audit log.",
        discussion: """
            Who was paired and removed, who was refused, who changed name, settings, roles, code and keys, which firmware began, and who
            reset the plug: the last 1000 of these, and the last 200 refusals; what is refused again within an hour is counted. The
            plug keeps them in flash, so they survive a loss of power. A factory reset empties the log and is its first entry.

            Times are this machine's, oldest first. A plug has no battery clock: of what happened before it lost power or
            rebooted only the order is known.

            Examples:
              plugctl audit Lamp
              plugctl audit Lamp --limit 20
              plugctl audit Lamp --json | jq -r 'select(.outcome == "refused") | .detail'
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(parsing: .unconditional, help: "Show the newest so many, from 1 on.")
    var limit: Int?
    @Flag(
        help: "One JSON object a line: plug, number, at, kind, outcome (done or refused), by, name, key, detail, count."
    )
    var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more, not \(limit)") }
    }

    func run() async throws {
        try await network.withConnected(name) { plug, _ in
            let entries: [DatedAuditEntry]
            do {
                entries = try await plug.audit(limit: limit)
            } catch let refusal as Refusal {
                throw Complaint("\(plug.name): \(refusal.detail)\n\(hint(refusal))")
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
