import ArgumentParser
import Automation
import Daemon
import Presentation

/// What `rules run` and `daemon` have in common.
struct RunnerOptions: ParsableArguments {
    @OptionGroup var network: NetworkOptions
    @Flag(help: "One JSON object a line: event (following, firing, heldBack, notSent, command, lost, gap), at, ...")
    var json = false

    func run(_ rules: [Rule]) async throws {
        let json = json
        try await network.withClient { client in
            try await untilInterrupted {
                let runner = RuleRunner(rules: rules, client: client)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await runner.run() }
                    for await record in runner.records {
                        let line = RuleRecord(record)
                        guard json ? Output.json(line) : Output.safeLine("\(line.at)  \(line.text)") else { break }
                    }
                    group.cancelAll()
                }
            }
        }
    }
}
