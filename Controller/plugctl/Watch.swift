import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch the events and readings of plugs.",
        discussion: """
            On a terminal and without names it shows a live table: the arrow keys or the mouse select a plug, space toggles it, + and -
            dim it, Enter shows its values, / finds plugs by name, s sorts by power, q quits. In a pipe, with names or with --json it
            prints one line per event at once.

            The command resumes after the last event that it printed: missed events are printed first, with their age. A plug that
            was never watched before starts with the current time. A program that must handle each event exactly once stores the
            cursor of the line together with its result, and passes it to --after: Documentation/reference/programs.md.

            Exit status: 0 when interrupted, when --for has passed or when the reader of the pipe has ended; 1 if a plug was not found
            or the output cannot be written; 64 for an invalid cursor.

            Examples:
              plugctl watch
              plugctl watch Television --json
              plugctl watch --json --after "$(cat cursor)"
              plugctl watch Lamp --json --after 41
              plugctl watch Kettle --dead-band 5W --interval 10s
              plugctl watch --json | jq 'select(.event == "button")'
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "Only these plugs.")
    var names: [String] = []
    @Flag(help: "One JSON object per line: plug, event, at, seq, age, cursor and the event's own fields.")
    var json = false
    @Option(name: .customLong("for"), parsing: .unconditional, help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?
    @Option(
        parsing: .unconditional,
        help: """
            Resume after the line with this cursor, for all plugs, or after this event number of one plug, instead of after the \
            last printed event.
            """)
    var after: String?
    @Flag(help: "Skip missed events.")
    var fromNow = false
    @Option(
        parsing: .unconditional,
        help: "Print a reading only if active power changed by at least this, such as 5W. (default: print each reading)"
    )
    var deadBand: Watts?
    @Option(parsing: .unconditional, help: "Maximum interval between readings. (default: 1s)")
    var interval: TimeSpan?
    @OptionGroup var options: HistoryOptions
    @OptionGroup var way: DaemonOptions
    @Option(help: .hidden)
    var note: [String] = []

    func validate() throws {
        try network.validate(names: names)
        guard after == nil || !fromNow else { throw ValidationError("--after and --from-now cannot be combined") }
        if case .number? = try place(), Set(names).count != 1 {
            throw ValidationError(
                "--after with an event number requires exactly one plug; a cursor works for several plugs")
        }
        guard interval.map({ $0.duration >= .milliseconds(1) && $0.duration <= .seconds(86_400) }) ?? true else {
            throw ValidationError("--interval must be between 1ms and 1d")
        }
    }

    /// Returns nil without `--after`.
    private func place() throws -> WatchPlace? { try after.map(WatchPlace.init) }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        // A program that passes a cursor stores its position itself.
        let memory = after == nil ? openMemory() : nil
        let place = try place()
        try await network.withClient(endsItself: false) { client in
            let plugs = try await found(client)
            let known = fromNow ? [:] : await memory?.known ?? [:]
            let watched = WatchedPlugs(
                client: client, plugs: plugs, place: place, known: known, options: stateOptions, memory: memory)
            if !json, names.isEmpty, capabilities.movesCursor {
                // The command always connects to the plugs itself. It asks the daemon only for the events of its rules
                // and for today's energy.
                let daemon = way.daemon()
                try await untilInterrupted(for: limit) {
                    let live = LiveHouse(
                        house: watched.house(), memory: memory, paired: (try? PairedPlugs().names()) ?? [:],
                        notes: note, daemon: daemon,
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

    /// Opens the record of the last printed event per plug. Without the record, the command works but cannot resume.
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
    printError("\(error); the next watch cannot resume after this one\(hint)")
}

/// Runs the body, and cancels it when the reader of standard output has closed the pipe. A body that prints nothing
/// would not detect this.
private func untilNobodyReads(_ body: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: body)
        group.addTask { await TerminalDevice.standardOutput.readerGone() }
        await group.next()
        group.cancelAll()
    }
}
