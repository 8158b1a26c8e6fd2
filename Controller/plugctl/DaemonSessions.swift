import ArgumentParser
import DaemonClient
import LinuxSystem
import Presentation

struct DaemonSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List the sessions of the dashboard, or end them.",
        discussion: """
            A session lasts thirty days, across restarts of the daemon. When a session ends, copies of its cookie become invalid too. \
            A new password ends the sessions of the previous one.

            Examples:
              plugctl daemon sessions
              plugctl daemon sessions --end 3f9ac210
              plugctl daemon sessions --end-all
            """)

    /// The parent command. The parser assigns it the options that both commands define, even after this command's name.
    @ParentCommand var daemon: DaemonCommand
    @Option(parsing: .unconditional, help: ArgumentHelp("End the session with this id.", valueName: "id"))
    var end: String?
    @Flag(help: "End all sessions.")
    var endAll = false
    @Flag(
        help: """
            One JSON object per listed or ended session: id, name (of the password), role, device, address, since, \
            lastUsed, until, self.
            """)
    var json = false

    func validate() throws {
        if end != nil, endAll { throw ValidationError("--end and --end-all cannot be combined") }
        if end?.isEmpty == true {
            throw ValidationError("--end requires a session id; plugctl daemon sessions lists them")
        }
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
                if all.isEmpty, !isJSON { Output.line("no sessions are open") }
            } else {
                let all = try await client.read([LoginRecord].self, place)
                show(all)
                if all.isEmpty, !isJSON { Output.line("no sessions are open") }
            }
        }
    }

    private var isJSON: Bool { json || daemon.runner.json }

    private func show(_ records: [LoginRecord], _ before: String = "") {
        for record in records {
            if isJSON { Output.json(record) } else { Output.safeLine(before + record.text(local: local)) }
        }
    }

    private func local(_ time: String) -> String { localTime(time, digits: 16) }
}

extension DaemonClient {
    fileprivate func decoded<Record: Decodable>(_ body: [UInt8], as type: Record.Type) throws -> Record {
        try decoded(body)
    }
}
