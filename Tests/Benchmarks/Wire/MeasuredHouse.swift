import Daemon
import Foundation
import Logging
import PlugClient
import PlugModel
import PlugTransport
import RuleModel
import Storage
import Synchronization

/// Rules that follow plugs on loopback, in their own process. No reading meets their only condition.
enum MeasuredHouse {
    /// The byte that prints the number of readings so far.
    static let count = UInt8(ascii: "c")
    /// A plug reports one reading per second. With several plugs, most of the work is for readings.
    static let plugs = 1...8
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

    static func name(_ plug: Int, of house: String) -> String { "\(house) \(plug)" }

    /// Pairs with the plugs, follows them, prints a line, and runs until standard input ends.
    ///
    /// - Parameters:
    ///   - house: the name that the names of the plugs begin with.
    ///   - states: the folder with the plugs' state directories, which have their setup codes.
    ///   - directory: the folder in which this controller stores its paired plugs.
    static func run(following house: String, states: String, in directory: String) async throws {
        let client = PlugClient(
            name: "house", identity: TransportIdentity(), paired: PairedPlugs(directory: directory),
            interfaces: ["lo"], logger: Logger(label: "house") { _ in SwiftLogNoOpLogHandler() })
        let names = plugs.map { name($0, of: house) }
        for (plug, name) in zip(plugs, names) {
            let found = try await client.find(name, within: .seconds(30))
            _ = try await client.pair(found.name, code: PlugLabel(state: "\(states)/\(plug)").code)
        }
        let rule = Rule(
            name: "Load",
            triggers: names.map { .activePower(plug: $0, PowerThreshold(.risesAbove, watts: limit)) },
            actions: [.turnOff(names)])
        let counter = ReadingCounter()
        let runner = RuleRunner(RuleFileSet(rules: [rule]), client: client, store: nil, audiences: [counter])
        let running = Task { await runner.run() }
        let telling = Task {
            for await record in runner.records {
                guard case .following(plugs: plugs.count, newest: _) = record.notice else { continue }
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
