import AsyncAlgorithms
import Automation
import LinuxClocks
import NIOCore
import PlugClient
import PlugModel
import ProtocolCore

/// Distributes the updates of one house to rules, recorder and observers. The rules receive the same updates as without
/// recorder and observers, each after recorder and observers have handled it. After the rules have ended, the recorder
/// may still fetch the last samples.
actor HouseEventHub: PlugAccess {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor

    nonisolated let updates = AsyncChannel<HouseFollower.Update>()
    private let house: any PlugAccess & SampleSource
    private let recorder: Recorder?
    private var audiences: [Listener]
    /// The filter of the rules.
    private var seen: EventDeduplicator
    private var following: [Task<Void, Never>] = []

    private struct Listener {
        let audience: any HouseObserver
        /// The filter of the observer; nil if it receives all updates.
        var seen: EventDeduplicator?
    }

    /// Creates the distribution. Nothing is followed before ``run()``.
    ///
    /// - Parameters:
    ///   - house: The follower of the house.
    ///   - seen: The filter of the rules.
    ///   - recorder: Stores the reports; nil without a history.
    ///   - audiences: The observers.
    ///   - known: The positions from which the house is followed.
    ///   - eventLoop: The event loop of the actor.
    init(
        _ house: any PlugAccess & SampleSource, rules seen: EventDeduplicator, recorder: Recorder?,
        audiences: [any HouseObserver] = [], known: [PlugID: SequenceNumber] = [:], on eventLoop: any EventLoop
    ) {
        self.house = house
        self.seen = seen
        self.recorder = recorder
        self.audiences = audiences.map { audience in
            let seen = audience.cursors.map {
                EventDeduplicator($0, others: known, othersAskForAll: recorder != nil, start: BootClock.now)
            }
            return Listener(audience: audience, seen: seen)
        }
        executor = eventLoop.executor
    }

    func run() async {
        let (unread, unreadable) = AsyncStream.makeStream(of: Never.self)
        await recorder?.begin(house)
        // These tasks are separate, because they continue after the cancellation of `run()` until `end()` cancels them:
        // the recorder still fetches the last samples. If the updates had no reader, the follower would stop reading
        // from the network.
        following = [Task { await house.run() }, Task { await self.share() }]
        for await _ in unread {}
        unreadable.finish()
        updates.finish()
    }

    private func share() async {
        for await update in house.updates {
            await recorder?.take(update)
            await tell(update)
            guard case .report(let report) = update else {
                await updates.send(update)
                continue
            }
            for report in seen.pass(report, now: BootClock.now) { await updates.send(.report(report)) }
        }
        updates.finish()
    }

    private func tell(_ update: HouseFollower.Update) async {
        for index in audiences.indices {
            guard case .report(let report) = update,
                let reports = audiences[index].seen?.pass(report, now: BootClock.now)
            else {
                await audiences[index].audience.take(update)
                continue
            }
            for report in reports { await audiences[index].audience.take(.report(report)) }
        }
    }

    func note(_ record: RunnerRecord) async {
        await recorder?.note(record)
        for listener in audiences { await listener.audience.note(record) }
    }

    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {
        await recorder?.rulesChanged(rules)
        for listener in audiences {
            await listener.audience.rulesChanged(rules, disabled: disabled, faults: faults)
        }
    }

    func past(of plug: PlugID) async -> [RecordedPower] { await recorder?.past(of: plug) ?? [] }

    /// Ends the recording. Returns after the attempt to store the last samples.
    func end() async {
        await recorder?.finish()
        for task in following {
            task.cancel()
            await task.value
        }
        following = []
    }

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await house.send(command, to: plug, id: id)
    }

    func pairedPlugs() async -> [PlugID: String]? { await house.pairedPlugs() }

    func locate(_ plug: String) async { await house.locate(plug) }

    func acknowledge(_ sequence: SequenceNumber, of plug: String) async {
        await house.acknowledge(sequence, of: plug)
    }
}
