import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import PlugProtocol
import Presentation
import Terminal

/// The plugs of a command, and the format of its output.
struct CommandOptions: ParsableArguments {
    @Argument(help: "The plugs' names.")
    var names: [String]
    @OptionGroup var output: CommandOutput

    func send(_ command: @escaping @Sendable (PlugState) -> PlugCommand) async throws {
        try await output.send(to: names, command)
    }
}

struct CommandOutput: ParsableArguments {
    @OptionGroup var network: PlugOptions
    @OptionGroup var way: DaemonOptions
    @Flag(help: "One JSON object per plug: plug, on, level, tripped, seq, or error.")
    var json = false
    @Option(
        parsing: .unconditional,
        help: """
            A text that identifies the command, such as the number of the event that caused it. If a command with the \
            same text is sent again, the plug does not execute it again. The plug remembers its last 512 commands. The \
            command is sent directly to the plug, not through the daemon.
            """)
    var once: String?

    func validate() throws {
        guard once.map({ (1...65_536).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--once must have 1 to 65536 bytes")
        }
    }

    /// Sends the command to all plugs concurrently, through the daemon if one runs and `--once` is not set. The exit
    /// status is 1 if no plug executed the command, and 2 if only some plugs did.
    func send(
        to names: [String], telling text: (CommandRecord) -> String = \.text,
        _ command: @escaping @Sendable (PlugState) -> PlugCommand
    ) async throws {
        try network.validate(names: names)
        var done = 0
        func tell(_ record: CommandRecord) {
            if record.error == nil { done += 1 }
            if json { Output.json(record) } else if record.error == nil { Output.safeLine(text(record)) }
        }
        let progress = Task { [network] in
            try await Task.sleep(for: .seconds(1))
            guard TerminalDevice.standardError.isTerminal else { return }
            printError("waiting for an answer from \(names.joined(separator: ", ")), at most \(network.commandTime)")
        }
        defer { progress.cancel() }
        try await saying {
            var rest = names.map { Pending(name: $0, command: command) }
            if once == nil, network.address == nil, let daemon = way.daemon(network.network) {
                rest = try await send(command, to: names, through: ThroughDaemon(client: daemon), tell)
            }
            guard !rest.isEmpty else { return }
            try await network.withClient { client in
                try await withThrowingTaskGroup(of: CommandRecord.self) { group in
                    for pending in rest {
                        group.addTask { try await perform(pending, client) }
                    }
                    for try await record in group { tell(record) }
                }
            }
        }
        guard done == names.count else { throw done == 0 ? ExitCode.failure : ExitCode(2) }
    }

    /// A plug that must be reached directly, and its command.
    private struct Pending: Sendable {
        var name: String
        var command: @Sendable (PlugState) -> PlugCommand
        /// See ``ThroughDaemon/End/untried(_:since:)``.
        var since: String?
    }

    /// Sends the command through the daemon.
    ///
    /// - Returns: The commands that the daemon could not send.
    private func send(
        _ command: @escaping @Sendable (PlugState) -> PlugCommand, to names: [String], through daemon: ThroughDaemon,
        _ tell: (CommandRecord) -> Void
    ) async throws -> [Pending] {
        var rest: [Pending] = []
        try await withThrowingTaskGroup(of: (String, ThroughDaemon.End).self) { group in
            for name in names {
                group.addTask { (name, try await daemon.perform(command, on: name)) }
            }
            for try await (name, end) in group {
                switch end {
                case .done(let record): tell(record)
                case .untried(let known?, let since):
                    rest.append(Pending(name: name, command: { _ in known }, since: since))
                case .untried(nil, let since): rest.append(Pending(name: name, command: command, since: since))
                }
            }
        }
        return rest
    }

    private func perform(_ pending: Pending, _ client: PlugClient) async throws -> CommandRecord {
        let plug: FollowedPlug
        do {
            plug = client.follow(try await client.find(pending.name, within: network.wait.duration))
        } catch var absent as PlugNotFound {
            absent.since = pending.since.map { localTime($0, digits: 19) }
            printError("\(absent)")
            return CommandRecord(plug: pending.name, error: "\(absent)")
        } catch {
            printError("\(error)")
            return CommandRecord(plug: pending.name, error: "\(error)")
        }
        let found = plug.name
        do {
            let (state, event) = try await answered(by: plug, within: network.commandTime) {
                try await carryOut(pending.command, on: plug)
            }
            return CommandRecord(plug: found, state: state, event: event)
        } catch let error as Refusal {
            printError("\(found): \(error.detail)" + (error.code.hint(for: found).map { "\nhint: \($0)" } ?? ""))
            return CommandRecord(plug: found, error: error.detail)
        } catch let fault as PlugFault {
            printError("\(fault)")
            return CommandRecord(plug: found, error: "\(fault)")
        } catch let silence as NoAnswer {
            let end = WallTime.now + FollowedPlug.commandLifetime
            let unconfirmed = UnconfirmedCommand(within: "\(silence.limit)", end: end)
            printError("\(found): \(unconfirmed)\nhint: `plugctl doctor` finds the reason; --timeout waits longer")
            return CommandRecord(plug: found, error: "\(unconfirmed)")
        }
    }

    /// Sends the command when the plug's state is known, because some commands depend on the state.
    private func carryOut(
        _ command: (PlugState) -> PlugCommand, on plug: FollowedPlug
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        defer { Task { await plug.stop() } }
        for await report in plug.reports {
            if case .disconnected(let reason, _) = report.update { try reportDisconnection(plug.name, reason) }
            guard case .snapshot(let state) = report.update else { continue }
            return try await plug.send(command(state), id: once.map { RequestID(madeFrom: $0) })
        }
        throw CancellationError()
    }
}
