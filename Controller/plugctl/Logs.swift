public import ArgumentParser
import PlugClient
public import PlugModel
import Presentation

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Follow a plug's log, with more than it writes usually if need be.",
        discussion: """
            First comes what the plug remembers of its last lines, then each line as it is written, until the time is over or
            Control-C. While somebody follows at debug or trace the plug tells that much; its own journal gets what it
            always does. Two at a time can follow a plug.

            Times are this machine's. Who runs a plug as a service finds older lines there, with journalctl -u plugd.

            Examples:
              plugctl logs Lamp
              plugctl logs Lamp --level debug --for 10m
              plugctl logs Lamp --level warning --json | jq -r .message
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "The least severe that is shown: trace, debug, info, notice, warning, error or critical.")
    var level = LogLevel.info
    @Option(name: .customLong("for"), parsing: .unconditional, help: "Stop after this long, such as 10m.")
    var limit: TimeSpan?
    @Flag(help: "One JSON object a line: plug, event (line or lost), at, number, level, part, message, count.")
    var json = false

    func run() async throws {
        try await network.withClient(endsItself: false) { client in
            let found = try await client.find(name, within: network.wait.duration)
            let plug = client.follow(found, after: nil, stateOptions: nil)
            await plug.followLog(level, for: limit?.duration)
            try await untilInterrupted(for: limit) { try await show(plug) }
            await plug.stop()
        }
    }

    private func show(_ plug: FollowedPlug) async throws {
        for await report in plug.reports {
            switch report.update {
            case .log(.refused(let refusal)): throw Complaint("\(plug.name): \(refusal.detail)\n\(hint(refusal))")
            case .log(.ended): return
            case .disconnected(let reason, _): try sayAway(plug.name, reason)
            case .log, .connected, .following, .snapshot, .state, .event, .gap: break
            }
            guard let record = LogRecord(report) else { continue }
            guard json ? Output.json(record) : Output.safeLine(record.text) else { return }
        }
    }

    private func hint(_ refusal: Refusal) -> String {
        refusal.code == .unsupported
            ? "hint: on the plug itself `journalctl -u plugd` shows it" : "hint: wait until one of them has ended"
    }
}

extension LogLevel: ExpressibleByArgument {}
