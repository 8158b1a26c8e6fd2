import ArgumentParser
import PlugClient
import PlugProtocol
import Presentation
import Terminal

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow plugs: what they do, and what happens at them.",
        discussion: """
            On a terminal, without names, it is a live table: arrows select a plug, space turns it over, + and - dim it, q
            ends. In a pipe, with names or with --json it prints a line for everything that happens.

            Examples:
              plugctl watch
              plugctl watch Television --json
              plugctl watch --json | jq 'select(.event == "button")'
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "Only these plugs.")
    var names: [String] = []
    @Flag(help: "One JSON object a line: plug, event, at, seq, age and the event's own fields.")
    var json = false
    @Option(name: .customLong("for"), help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?
    @Option(help: "Goes on after this event number: those since then come first. For one plug.")
    var after: UInt64?
    @Option(help: .hidden)
    var note: [String] = []

    func validate() throws {
        guard after == nil || names.count == 1 else { throw ValidationError("--after goes with exactly one plug") }
    }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        try await network.withClient { client in
            if !json, names.isEmpty, capabilities.movesCursor {
                try await untilInterrupted(for: limit) {
                    await LiveHouse(client: client, notes: note).run(capabilities)
                }
            } else if names.isEmpty {
                try await untilInterrupted(for: limit) { await printHouse(client) }
            } else {
                try await printPlugs(client)
            }
        }
    }

    private func printHouse(_ client: PlugClient) async {
        let house = HouseFollower(client)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await house.run() }
            var printer = ReportPrinter(json: json)
            for await update in house.updates {
                if case .report(let report) = update, !printer.print(report) { break }
            }
            group.cancelAll()
        }
    }

    private func printPlugs(_ client: PlugClient) async throws {
        var found: [String] = []
        for name in names { found.append(try await client.find(name, within: network.wait.duration)) }
        let plugs = found
        try await untilInterrupted(for: limit) {
            await withTaskGroup(of: Void.self) { group in
                for name in plugs {
                    group.addTask {
                        let plug = client.follow(name, after: after)
                        var printer = ReportPrinter(json: json)
                        for await report in plug.reports where !printer.print(report) { break }
                        await plug.stop()
                    }
                }
            }
        }
    }
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
        case .connected, .following, .event, .gap, .commandFinished, .samples, .disconnected: break
        }
        return records.allSatisfy { record in
            json ? Output.json(record) : Output.safeLine("\(record.at)  \(record.plug)  \(record.words)")
        }
    }
}
