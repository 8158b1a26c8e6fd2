import ArgumentParser
import DaemonClient
import DurableFiles
import LinuxClocks
import LocalCalendar
import Presentation

struct DaemonSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Show who is logged in at the dashboard, and end that.",
        discussion: """
            A session lasts for thirty days, also while the daemon is restarted; one that was ended is of no use any more to whoever \
            has its cookie. A new password ends those of the one before.

            Examples:
              plugctl daemon sessions
              plugctl daemon sessions --end 3f9ac210
              plugctl daemon sessions --end-all
            """)

    /// The parser assigns an option that both commands define to the parent, even after this command's name.
    @ParentCommand var daemon: DaemonCommand
    @Option(parsing: .unconditional, help: ArgumentHelp("End the session of this id.", valueName: "id"))
    var end: String?
    @Flag(help: "End all sessions.")
    var endAll = false
    @Flag(
        help: """
            A JSON object for each, also for those that it ended: id, name (of the password), role, device, address, since, \
            lastUsed, until, self.
            """)
    var json = false

    func validate() throws {
        if end != nil, endAll { throw ValidationError("--end and --end-all exclude each other") }
        if end?.isEmpty == true { throw ValidationError("--end needs a session's id: plugctl daemon sessions") }
    }

    func run() async throws {
        try await saying {
            let client = DaemonClient(path: DaemonSocket.path(daemon.dashboard.socket))
            let place = "/api/v1/sessions"
            if let end {
                let one = try client.decoded(
                    try await client.delete("\(place)/\(DaemonClient.part(end))"), as: LoginRecord.self)
                show([one], "ended: ")
            } else if endAll {
                let all = try client.decoded(try await client.delete(place), as: [LoginRecord].self)
                show(all, "ended: ")
                if all.isEmpty, !isJSON { Output.line("nobody is logged in") }
            } else {
                let all = try await client.read([LoginRecord].self, place)
                show(all)
                if all.isEmpty, !isJSON { Output.line("nobody is logged in") }
            }
        }
    }

    private var isJSON: Bool { json || daemon.runner.json }

    private func show(_ records: [LoginRecord], _ before: String = "") {
        for record in records {
            if isJSON { Output.json(record) } else { Output.safeLine(before + record.text(local: local)) }
        }
    }

    private func local(_ time: String) -> String {
        guard let civil = CivilTime(parsing: String(time.prefix(19))) else { return time }
        let wall = WallTime(nanosecondsSince1970: 0) + .seconds(Int(civil.localSeconds))
        return String(wall.iso8601(offset: wall.localOffset).prefix(16)).replacing("T", with: " ")
    }
}

extension DaemonClient {
    fileprivate func decoded<Record: Decodable>(_ body: [UInt8], as type: Record.Type) throws -> Record {
        try decoded(body)
    }
}
