import ArgumentParser
import PlugClient
import PlugProtocol
import Presentation

/// The plugs that a command is for, and how its answer is shown.
struct CommandOptions: ParsableArguments {
    @Argument(help: "The plugs' names.")
    var names: [String]
    @OptionGroup var output: CommandOutput

    func send(_ command: @escaping @Sendable (PlugState) -> PlugCommand) async throws {
        try await output.send(to: names, command)
    }
}

struct CommandOutput: ParsableArguments {
    @OptionGroup var network: NetworkOptions
    @Flag(help: "One JSON object a plug: plug, on, level, seq, or error.")
    var json = false

    /// Commands all plugs at once. Exit status 1 when none did it, 2 when some did.
    func send(to names: [String], _ command: @escaping @Sendable (PlugState) -> PlugCommand) async throws {
        try await network.withClient { client in
            var done = 0
            try await withThrowingTaskGroup(of: CommandRecord.self) { group in
                for name in names {
                    group.addTask { try await perform(command, on: name, client) }
                }
                for try await record in group {
                    if record.error == nil { done += 1 } else { complain("\(record.plug): \(record.error ?? "")") }
                    if json { Output.json(record) } else if record.error == nil { Output.safeLine(record.text) }
                }
            }
            guard done == names.count else { throw done == 0 ? ExitCode.failure : ExitCode(2) }
        }
    }

    private func perform(
        _ command: (PlugState) -> PlugCommand, on name: String, _ client: PlugClient
    ) async throws -> CommandRecord {
        do {
            let found = try await client.find(name, within: network.wait.duration)
            let plug = client.follow(found)
            defer { Task { await plug.stop() } }
            for await report in plug.reports {
                if case .disconnected(let reason, _) = report.update {
                    complain("\(found): \(reason); trying again")
                }
                guard case .snapshot(let state) = report.update else { continue }
                let (result, event) = try await plug.send(command(state))
                return CommandRecord(plug: found, state: result, event: event)
            }
            throw CancellationError()
        } catch let error as CancellationError {
            throw error
        } catch {
            return CommandRecord(plug: name, error: "\(error)")
        }
    }
}
