import Automation
import LinuxSystem
import NIOCore
import PlugClient
import PlugModel
import ProtocolCore
import RuleModel

/// Distributes the updates of one house to rules, recorder and observers. The rules receive the same updates as without
/// recorder and observers. Each observer has a bounded queue, and the recorder queues its writes, so a slow observer,
/// disk or browser delays only itself. After the rules have ended, the recorder may still fetch the last samples.
actor HouseEventHub: PlugAccess {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let tasks: EventLoopTasks

    private let house: any PlugAccess & SampleSource
    private let recorder: Recorder?
    private var audiences: [Listener]
    /// The rules; nil before they run and after their end.
    private var rules: HouseFollower.Delivery?
    /// The filter of the rules.
    private var seen: EventDeduplicator
    private var following: Task<Void, Never>?
    /// The delivery to each observer.
    private var delivering: [Task<Void, Never>] = []

    /// The maximum number of items that wait for one observer, unless a test sets a smaller one.
    static let limit = 16_384

    private enum Item {
        case update(HouseFollower.Update)
        case note(RunnerRecord)
        case rules([Rule], disabled: Set<String>, faults: [RuleFileFault])
        /// Resumed when the observer has handled all earlier items.
        case mark(CheckedContinuation<Void, Never>)
    }

    private struct Listener {
        let audience: any HouseObserver
        let items: AsyncStream<Item>
        let queue: AsyncStream<Item>.Continuation
        /// The filter of the observer; nil if it receives all updates.
        var seen: EventDeduplicator?
        /// The number of items that the full queue has refused since it last accepted an item.
        var leftOut = 0

        init(_ audience: any HouseObserver, seen: EventDeduplicator?, limit: Int) {
            (self.audience, self.seen) = (audience, seen)
            (items, queue) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(limit))
        }

        /// Queues an item. After refused items, the observer first receives their number.
        mutating func add(_ item: Item) {
            if leftOut > 0 {
                let record = RunnerRecord(at: WallTime.now, notice: .recordsLeftOut(leftOut))
                if case .enqueued = queue.yield(.note(record)) { leftOut = 0 }
            }
            guard case .enqueued = queue.yield(item) else {
                // If the full queue refuses a mark, the caller of `settle()` continues without waiting.
                if case .mark(let waiting) = item { waiting.resume() } else { leftOut += 1 }
                return
            }
        }
    }

    /// Creates a hub. It follows nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - house: The follower of the house.
    ///   - seen: The filter of the rules.
    ///   - recorder: Stores the reports; nil without a history.
    ///   - audiences: The observers.
    ///   - known: The positions from which the house is followed.
    ///   - limit: The maximum number of items that wait for one observer.
    ///   - eventLoop: The event loop of the actor.
    init(
        _ house: any PlugAccess & SampleSource, rules seen: EventDeduplicator, recorder: Recorder?,
        audiences: [any HouseObserver] = [], known: [PlugID: SequenceNumber] = [:], limit: Int = HouseEventHub.limit,
        on eventLoop: any EventLoop
    ) {
        self.house = house
        self.seen = seen
        self.recorder = recorder
        self.audiences = audiences.map { audience in
            let seen = audience.cursors.map {
                EventDeduplicator($0, others: known, othersAskForAll: recorder != nil, start: BootClock.now)
            }
            return Listener(audience, seen: seen, limit: limit)
        }
        executor = eventLoop.executor
        tasks = EventLoopTasks(eventLoop)
    }

    func run(_ deliver: @escaping HouseFollower.Delivery) async {
        rules = deliver
        let (unread, unreadable) = AsyncStream.makeStream(of: Never.self)
        await recorder?.begin(house)
        // This task is separate, because it continues after the cancellation of `run()` until `end()` cancels it: the
        // recorder still fetches the last samples.
        following = Task(executorPreference: tasks) {
            await self.house.run { await self.share($0) }
            unreadable.finish()
        }
        delivering = audiences.map { listener in
            Task(executorPreference: tasks) { await self.deliver(listener.items, to: listener.audience) }
        }
        for await _ in unread {}
        rules = nil
    }

    private func share(_ update: HouseFollower.Update) async {
        // Queued first, so that the update is before the records that it causes.
        queue(update)
        if case .report(let report) = update {
            for report in seen.pass(report, now: BootClock.now) { await rules?(.report(report)) }
        } else {
            await rules?(update)
        }
        await recorder?.handle(update)
    }

    private func queue(_ update: HouseFollower.Update) {
        for index in audiences.indices {
            guard case .report(let report) = update,
                let reports = audiences[index].seen?.pass(report, now: BootClock.now)
            else {
                audiences[index].add(.update(update))
                continue
            }
            for report in reports { audiences[index].add(.update(.report(report))) }
        }
    }

    private func deliver(_ items: AsyncStream<Item>, to observer: any HouseObserver) async {
        for await item in items {
            switch item {
            case .update(let update): await observer.handle(update)
            case .note(let record): await observer.note(record)
            case .rules(let rules, let disabled, let faults):
                await observer.rulesChanged(rules, disabled: disabled, faults: faults)
            case .mark(let waiting): waiting.resume()
            }
        }
    }

    func note(_ record: RunnerRecord) async {
        for index in audiences.indices { audiences[index].add(.note(record)) }
        await recorder?.note(record)
    }

    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {
        for index in audiences.indices { audiences[index].add(.rules(rules, disabled: disabled, faults: faults)) }
        await recorder?.rulesChanged(rules)
    }

    func settle() async {
        guard !delivering.isEmpty else { return }
        for index in audiences.indices { await withCheckedContinuation { audiences[index].add(.mark($0)) } }
    }

    func past(of plug: PlugID) async -> [RecordedPower] { await recorder?.past(of: plug) ?? [] }

    /// Ends the recording. Returns after the attempt to store the last samples.
    func end() async {
        await recorder?.finish()
        following?.cancel()
        await following?.value
        following = nil
        for listener in audiences { listener.queue.finish() }
        for task in delivering { await task.value }
        delivering = []
    }

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await house.send(command, to: plug, id: id)
    }

    func pairedPlugs() async -> [PlugID: String]? { await house.pairedPlugs() }

    func plug(named name: String) async -> FollowedPlug? { await house.plug(named: name) }

    func acknowledge(_ sequence: SequenceNumber, of plug: String) async {
        await house.acknowledge(sequence, of: plug)
    }
}
