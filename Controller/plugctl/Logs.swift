public import ArgumentParser
import PlugClient
public import PlugModel
import Presentation

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Follow a plug's log, optionally at a more detailed level than usual.",
        discussion: """
            The command prints the last lines that the plug remembers and then each new line, until --for has passed or Control-C is
            pressed. With debug or trace the plug sends that level for this command only; its own journal does not change. At most two
            clients can follow the log of a plug.

            Times are in this machine's time zone. On the plug, `journalctl -u plugd` shows older lines.

            Examples:
              plugctl logs Lamp
              plugctl logs Lamp --level debug --for 10m
              plugctl logs Lamp --level warning --json | jq -r .message
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "The lowest level to show: trace, debug, info, notice, warning, error or critical.")
    var level = LogLevel.info
    @Option(name: .customLong("for"), parsing: .unconditional, help: "Stop after this long, such as 10m.")
    var limit: TimeSpan?
    @Flag(help: "One JSON object per line: plug, event (line or lost), at, number, level, part, message, count.")
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
            case .log(.refused(let refusal)): throw CLIError("\(plug.name): \(refusal.detail)\n\(hint(refusal))")
            case .log(.ended): return
            case .disconnected(let reason, _): try reportDisconnection(plug.name, reason)
            case .log, .connected, .following, .snapshot, .state, .event, .gap: break
            }
            guard let record = LogRecord(report) else { continue }
            guard json ? Output.json(record) : Output.safeLine(record.text) else { return }
        }
    }

    private func hint(_ refusal: Refusal) -> String {
        refusal.code == .unsupported
            ? "hint: run `journalctl -u plugd` on the plug" : "hint: wait until another client has disconnected"
    }
}

extension LogLevel: ExpressibleByArgument {}
