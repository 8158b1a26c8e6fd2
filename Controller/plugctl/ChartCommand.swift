import ArgumentParser
import Charting
import LinuxNetwork
import PlugClient
import Presentation
import Terminal

struct ChartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chart",
        abstract: "Draw a plug's power over the last minutes, live.",
        discussion: """
            The plug keeps its samples, so the chart begins with what was there before. On a terminal it scrolls until q or
            Control-C; in a pipe, or with --once, it is printed once.

            Examples:
              plugctl chart Refrigerator
              plugctl chart Television --last 1h --once
              plugctl chart Kettle --once --svg kettle.svg
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "How much of the past to show.")
    var last = TimeSpan(.seconds(600))
    @Flag(help: "Print it once and end.")
    var once = false
    @Flag(help: "With --once: print the samples instead, one JSON object a line: plug, at, activePower.")
    var json = false
    @Option(help: "With --once: write it to this file as SVG.", completion: .file())
    var svg: String?

    func validate() throws {
        guard last.duration >= .seconds(1) else { throw ValidationError("--last is at least 1s") }
        guard svg == nil && !json || once else { throw ValidationError("--svg and --json go with --once") }
    }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        try await network.withClient { client in
            let found = try await client.find(name, within: network.wait.duration)
            let live = !once && capabilities.movesCursor
            try await untilInterrupted {
                if live {
                    await LiveChart(client: client, plug: found, span: last.duration).run(capabilities)
                } else {
                    try await printOnce(client, found, capabilities)
                }
            }
        }
    }

    private func printOnce(_ client: PlugClient, _ found: String, _ capabilities: Capabilities) async throws {
        var course = PowerCourse(plug: found, span: last.duration)
        let plug = client.follow(found)
        for await report in plug.reports {
            if case .disconnected(let reason, _) = report.update { try sayAway(found, reason) }
            course.take(report)
            guard case .snapshot = report.update else { continue }
            course.take(try await plug.samples(last: last.duration))
            break
        }
        await plug.stop()
        if json {
            course.records.forEach { Output.json($0) }
        } else if let svg {
            try writeSVG(course.chart.svg(width: 960, height: 360), to: svg)
        } else {
            let size = TerminalDevice.standardOutput.size ?? TerminalSize(columns: 100, rows: 24)
            let chartSize = TerminalSize(columns: size.columns, rows: min(size.rows - 1, 24))
            for line in course.chart.lines(size: chartSize, capabilities: capabilities) {
                TerminalDevice.standardOutput.print(line, colors: capabilities.colors)
            }
        }
    }
}

/// The chart that scrolls.
struct LiveChart: Sendable {
    private enum Input: Sendable {
        case report(PlugReport)
        case samples([PlugSample])
        case terminal(TerminalEvent)
    }

    let client: PlugClient
    let plug: String
    let span: Duration

    func run(_ capabilities: Capabilities) async {
        guard var screen = LiveScreen(capabilities: capabilities, placement: .wholeScreen) else { return }
        let keyboard = TerminalInput()
        let followed = client.follow(plug)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(1024))
        let feeding = [
            Task { for await report in followed.reports { continuation.yield(.report(report)) } },
            Task {
                guard let keyboard else { return }
                for await event in keyboard.events { continuation.yield(.terminal(event)) }
            },
        ]
        var course = PowerCourse(plug: plug, span: span)
        for await input in inputs {
            switch input {
            case .report(let report):
                course.take(report)
                // Also after a time away: the plug kept what this controller missed.
                if case .snapshot = report.update {
                    Task { continuation.yield(.samples(try await followed.samples(last: span))) }
                }
            case .samples(let samples): course.take(samples)
            case .terminal(.key(.interrupt)), .terminal(.key(.character("q"))): continuation.finish()
            case .terminal(.resumed): screen.invalidate()
            case .terminal(.key), .terminal(.resized): break
            }
            if screen.draw(course.chart.lines(size: screen.size, capabilities: capabilities)) == .closed { break }
        }
        feeding.forEach { $0.cancel() }
        keyboard?.close()
        await followed.stop()
    }
}
