import ArgumentParser
import Automation
import Daemon
import Dashboard
import PowerHistory
import Presentation

/// What `rules run` and `daemon` have in common.
struct RunnerOptions: ParsableArguments {
    @OptionGroup var network: NetworkOptions
    @Flag(
        help: """
            One JSON object a line: event (following, firing, heldBack, notSent, resumed, command, lost, gap, notStored, \
            stored; of the daemon serving, with address), at, ...
            """)
    var json = false

    /// - Parameters:
    ///   - store: what survives the process; nil for nothing.
    ///   - history: keeps what the plugs report besides.
    ///   - face: shows it; nil for nobody.
    func run(
        _ rules: [Rule], _ store: RuleStore?, _ history: PowerHistory? = nil, _ face: DaemonFace? = nil
    ) async throws {
        try await network.withClient { client in
            let recorder = history.flatMap { makeRecorder($0, on: client) }
            let board = face.map { LiveBoard(rules: rules, history: $0.history) }
            let runner = RuleRunner(
                rules: rules, client: client, store: store, recorder: recorder, audience: board)
            let (unread, unreadable) = AsyncStream.makeStream(of: Never.self)
            let printing = Task {
                var isRead = true
                for await record in runner.records where isRead {
                    isRead = print(record)
                    if !isRead { unreadable.finish() }
                }
            }
            let logger = network.logger
            try await untilInterrupted {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await runner.run() }
                    group.addTask { for await _ in unread {} }
                    if let face, let board {
                        let house = DaemonHouse(runner: runner, client: client)
                        group.addTask { await face.run(board, house, recorder, logger) }
                    }
                    await group.next()
                    group.cancelAll()
                }
            }
            await printing.value
        }
    }

    /// False when nobody reads any more. That a disk is full stops no rules.
    private func print(_ record: RunnerRecord) -> Bool {
        let line = RuleRecord(record)
        let isRead = json ? Output.json(line) : Output.safeLine("\(line.at)  \(line.text)")
        return isRead || Output.hasFailed
    }
}
