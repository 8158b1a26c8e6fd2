import ArgumentParser
import DurableFiles
import PlugClient
import PlugProtocol
import Presentation
import Terminal

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow plugs: what they do, and what happens at them.",
        discussion: """
            On a terminal, without names, it is a live table: arrows select a plug, space turns it over, + and - dim it, q
            ends. In a pipe, with names or with --json it prints a line for everything that happens.

            It goes on after the last event that it printed, so what happened meanwhile comes first, with its age. A plug
            that was never watched is watched from now on. A script that must do each thing once keeps the number (seq)
            together with what it did, and gives it back with --after.

            Examples:
              plugctl watch
              plugctl watch Television --json
              plugctl watch Lamp --json --after 41
              plugctl watch Kettle --dead-band 5W --interval 10s
              plugctl watch --json | jq 'select(.event == "button")'
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "Only these plugs.")
    var names: [String] = []
    @Flag(help: "One JSON object a line: plug, event, at, seq, age and the event's own fields.")
    var json = false
    @Option(name: .customLong("for"), help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?
    @Option(help: "Goes on after this event number, whatever was printed before. For one plug.")
    var after: UInt64?
    @Flag(help: "Leaves out what was missed.")
    var fromNow = false
    @Option(help: "A reading is worth a line when active power moved by at least this, such as 5W. (default: each is)")
    var deadBand: Watts?
    @Option(help: "... or this long after the last one. (default: 1s)")
    var interval: TimeSpan?
    @OptionGroup var options: HistoryOptions
    @OptionGroup var way: DaemonOptions
    @Option(help: .hidden)
    var note: [String] = []

    func validate() throws {
        guard after == nil || names.count == 1 else { throw ValidationError("--after goes with exactly one plug") }
        guard after == nil || !fromNow else { throw ValidationError("--after and --from-now exclude each other") }
        guard (after ?? 0) <= UInt64(Int64.max) else { throw ValidationError("--after is at most \(Int64.max)") }
        guard interval.map({ $0.duration >= .milliseconds(1) && $0.duration <= .seconds(86_400) }) ?? true else {
            throw ValidationError("--interval lies between 1ms and 1d")
        }
    }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        // Whoever gives a number keeps it too.
        let memory = after == nil ? openMemory() : nil
        try await network.withClient { client in
            if !json, names.isEmpty, capabilities.movesCursor {
                let house = await house(client, memory)
                // What its rules do is news whichever way the plugs are reached.
                let daemon = way.daemon()
                try await untilInterrupted(for: limit) {
                    let live = LiveHouse(
                        house: house, memory: memory, notes: note, daemon: daemon,
                        energy: EnergyToday(daemon: daemon, history: try? options.openIfPresent()))
                    await live.run(capabilities)
                }
            } else if names.isEmpty {
                let house = await house(client, memory)
                try await untilInterrupted(for: limit) { await printHouse(house, memory) }
            } else {
                try await printPlugs(client, memory)
            }
            await memory?.finish()
        }
    }

    /// What was printed of which plug. Without it watching works, and forgets.
    private func openMemory() -> CursorMemory? {
        do {
            return try CursorMemory(UserDirectories.state + "/smartplug/watch") { complainOfMemory($0) }
        } catch {
            complainOfMemory(error)
            return nil
        }
    }

    private var cursor: Cursor { after.map { .after($0) } ?? .now }

    private func known(_ memory: CursorMemory?) async -> [PlugID: SequenceNumber] {
        fromNow ? [:] : await memory?.known ?? [:]
    }

    private var stateOptions: StateOptions {
        StateOptions(deadBandMilliwatts: deadBand?.milliwatts ?? 0, maximumInterval: interval?.duration)
    }

    private func house(_ client: PlugClient, _ memory: CursorMemory?) async -> HouseFollower {
        HouseFollower(client, after: cursor, known: await known(memory), stateOptions: stateOptions)
    }

    private func printHouse(_ house: HouseFollower, _ memory: CursorMemory?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await house.run() }
            var printer = ReportPrinter(json: json)
            for await update in house.updates {
                guard case .report(let report) = update else { continue }
                guard printer.print(report) else { break }
                await memory?.took(report)
            }
            group.cancelAll()
        }
    }

    private func printPlugs(_ client: PlugClient, _ memory: CursorMemory?) async throws {
        var found: [String] = []
        for name in names { found.append(try await client.find(name, within: network.wait.duration)) }
        let plugs = found
        let known = await known(memory)
        try await untilInterrupted(for: limit) {
            await withTaskGroup(of: Void.self) { group in
                for name in plugs {
                    group.addTask {
                        let plug = client.follow(name, after: cursor, known: known, stateOptions: stateOptions)
                        var printer = ReportPrinter(json: json)
                        for await report in plug.reports {
                            guard printer.print(report) else { break }
                            await memory?.took(report)
                        }
                        await plug.stop()
                    }
                }
            }
        }
    }
}

private func complainOfMemory(_ error: FileError) {
    let hint = error.hint.map { "\nhint: \($0)" } ?? ""
    complain("\(error), so the next watch will not know where this one ended\(hint)")
}

/// Prints reports as lines.
struct ReportPrinter {
    let json: Bool
    private var states: [String: PlugState] = [:]

    init(json: Bool) { self.json = json }

    /// False when nobody reads any more.
    mutating func print(_ report: PlugReport) -> Bool {
        let records = WatchRecord.records(of: report, previous: states[report.plug])
        switch report.update {
        case .snapshot(let state), .state(let state): states[report.plug] = state
        case .connected, .following, .event, .gap, .log, .disconnected: break
        }
        return records.allSatisfy { record in
            json ? Output.json(record) : Output.safeLine("\(record.at)  \(record.plug)  \(record.words)")
        }
    }
}
