import Daemon
import Foundation
import Logging
import PlugClient
import PlugModel
import PlugTransport
import RuleModel
import Storage
import Synchronization

/// Rules that follow a plug on loopback, in their own process. No reading meets their only condition.
enum MeasuredHouse {
    /// The byte that prints the number of readings so far.
    static let count = UInt8(ascii: "c")
    private static let limit = 3000.0

    private final class ReadingCounter: HouseObserver {
        let readings = Atomic(0)

        func handle(_ update: HouseFollower.Update) {
            guard case .report(let report) = update, case .state = report.update else { return }
            readings.add(1, ordering: .relaxed)
        }

        func note(_ record: RunnerRecord) {}
        func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}
    }

    /// Pairs with the plug, follows it, prints a line, and runs until standard input ends.
    ///
    /// - Parameters:
    ///   - state: the plug's state directory, which has its setup code.
    ///   - directory: the folder in which this controller stores its paired plugs.
    static func run(following name: String, state: String, in directory: String) async throws {
        let client = PlugClient(
            name: "house", identity: TransportIdentity(), paired: PairedPlugs(directory: directory),
            interfaces: ["lo"], logger: Logger(label: "house") { _ in SwiftLogNoOpLogHandler() })
        let found = try await client.find(name, within: .seconds(30))
        _ = try await client.pair(found.name, code: PlugLabel(state: state).code)
        let rule = Rule(
            name: "Load", triggers: [.activePower(plug: name, PowerThreshold(.risesAbove, watts: limit))],
            actions: [.turnOff([name])])
        let counter = ReadingCounter()
        let runner = RuleRunner(RuleFileSet(rules: [rule]), client: client, store: nil, audiences: [counter])
        let running = Task { await runner.run() }
        let telling = Task {
            for await record in runner.records {
                guard case .following(plugs: _, newest: name) = record.notice else { continue }
                print("following")
                fflush(nil)
            }
        }
        for await _ in standardInput() {
            print(counter.readings.load(ordering: .relaxed))
            fflush(nil)
        }
        running.cancel()
        await running.value
        await telling.value
        await client.stop()
    }
}
