import ArgumentParser
import DurableFiles
import LinuxClocks
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow plugs: what they do, and what happens at them.",
        discussion: """
            On a terminal, without names, it is a live table: arrows select a plug, space turns it over, + and - dim it, q
            ends. In a pipe, with names or with --json it prints a line for everything that happens, at once.

            It goes on after the last event that it printed, so what happened meanwhile comes first, with its age. A plug
            that was never watched is watched from now on. A program that must do each thing once keeps the cursor of the
            line together with what it did, and gives it back with --after: Documentation/reference/programs.md.

            Exit status: 0 when interrupted, when the time is over or when nobody reads any more; 1 when a plug was not found
            or nothing can be written; 64 for a cursor that is none.

            Examples:
              plugctl watch
              plugctl watch Television --json
              plugctl watch --json --after "$(cat cursor)"
              plugctl watch Lamp --json --after 41
              plugctl watch Kettle --dead-band 5W --interval 10s
              plugctl watch --json | jq 'select(.event == "button")'
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "Only these plugs.")
    var names: [String] = []
    @Flag(help: "One JSON object a line: plug, event, at, seq, age, cursor and the event's own fields.")
    var json = false
    @Option(name: .customLong("for"), parsing: .unconditional, help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?
    @Option(
        parsing: .unconditional,
        help: """
            Goes on after the line with this cursor, for all plugs, or after this event number of one plug, whatever was printed \
            before.
            """)
    var after: String?
    @Flag(help: "Leaves out what was missed.")
    var fromNow = false
    @Option(
        parsing: .unconditional,
        help: "A reading is worth a line when active power moved by at least this, such as 5W. (default: each is)")
    var deadBand: Watts?
    @Option(parsing: .unconditional, help: "... or this long after the last one. (default: 1s)")
    var interval: TimeSpan?
    @OptionGroup var options: HistoryOptions
    @OptionGroup var way: DaemonOptions
    @Option(help: .hidden)
    var note: [String] = []

    func validate() throws {
        guard after == nil || !fromNow else { throw ValidationError("--after and --from-now exclude each other") }
        if case .number? = try place(), Set(names).count != 1 {
            throw ValidationError("--after with an event number goes with exactly one plug; a cursor goes with all")
        }
        guard interval.map({ $0.duration >= .milliseconds(1) && $0.duration <= .seconds(86_400) }) ?? true else {
            throw ValidationError("--interval lies between 1ms and 1d")
        }
    }

    /// Returns nil without `--after`.
    private func place() throws -> WatchPlace? { try after.map(WatchPlace.init) }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        // A user who passes a cursor also stores it.
        let memory = after == nil ? openMemory() : nil
        let place = try place()
        try await network.withClient(endsItself: false) { client in
            let plugs = try await found(client)
            let known = fromNow ? [:] : await memory?.known ?? [:]
            let watched = WatchedPlugs(
                client: client, plugs: plugs, place: place, known: known, options: stateOptions, memory: memory)
            if !json, names.isEmpty, capabilities.movesCursor {
                // Events of the daemon's rules are shown even if the plugs are reached directly.
                let daemon = way.daemon()
                try await untilInterrupted(for: limit) {
                    let live = LiveHouse(
                        house: watched.house(), memory: memory, notes: note, daemon: daemon,
                        energy: EnergyToday(daemon: daemon, history: try? options.openIfPresent()))
                    await live.run(capabilities)
                }
            } else {
                try await untilInterrupted(for: limit) {
                    await untilNobodyReads { await watched.print(json: json) }
                }
            }
            await memory?.finish()
        }
    }

    /// Finds the named plugs, without repetitions.
    private func found(_ client: PlugClient) async throws -> [Plug] {
        var plugs: [Plug] = []
        for name in names {
            let plug = try await client.plug(name, within: network.wait.duration)
            if !plugs.contains(where: { $0.name == plug.name }) { plugs.append(plug) }
        }
        return plugs
    }

    private var stateOptions: StateOptions {
        StateOptions(deadBandMilliwatts: deadBand?.milliwatts ?? 0, maximumInterval: interval?.duration)
    }

    /// Opens the record of the printed events per plug. Without it, watching works but does not resume.
    private func openMemory() -> CursorMemory? {
        do {
            return try CursorMemory(UserDirectories.state + "/smartplug/watch") { complainOfMemory($0) }
        } catch {
            complainOfMemory(error)
            return nil
        }
    }
}

private func complainOfMemory(_ error: FileError) {
    let hint = error.hint.map { "\nhint: \($0)" } ?? ""
    complain("\(error), so the next watch will not know where this one ended\(hint)")
}

/// Runs the body, and also ends it when the reader of standard output has closed the pipe and the body prints nothing.
private func untilNobodyReads(_ body: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: body)
        group.addTask { await TerminalDevice.standardOutput.readerGone() }
        await group.next()
        group.cancelAll()
    }
}
