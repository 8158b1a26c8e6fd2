import LinuxSystem
package import NIOCore
import NIOPosix
public import PlugModel
import ProtocolCore
package import ServiceDiscovery

/// Follows every plug of the house from its first announcement until it disappears. A renamed plug is reported as lost
/// under its old name and found under the new one. It is the shell of ``HouseMachine``.
///
/// The name of a paired plug is bound to its id. The plug keeps this name if only its announced name changes. Another
/// host that announces the name is not reported.
public actor HouseFollower {
    /// The follower found or lost a plug, which the name identifies, or received a report of a found plug.
    public enum Update: Sendable {
        case found(String)
        case report(PlugReport)
        case lost(String)

        /// The source of the report (see ``PlugReport/source``); nil for `found` and `lost`.
        public var source: PlugID? { if case .report(let report) = self { report.source } else { nil } }
    }

    /// A followed plug and the reader of its reports.
    private struct Reader {
        let plug: FollowedPlug
        /// The plug's id that the machine knows.
        var proved: PlugID?
        /// True if the machine requested a report and the reader has not begun to wait for it.
        var isRequested = false
        /// The reader, while it waits for the request to read.
        var turn: CheckedContinuation<Void, Never>?
    }

    /// Receives one update. The next one follows when the call returns.
    public typealias Delivery = @Sendable (Update) async -> Void

    /// The executor of the event loop on which the connections run. A report then changes threads less often on its way
    /// to the reader.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    private nonisolated let tasks: EventLoopTasks
    private let browse: @Sendable () -> any AsyncSequence<ServiceChange, Never>
    /// The plugs that are reached by a stored address, in the form of announcements.
    private let addressed: @Sendable () -> any AsyncSequence<ServiceChange, Never>
    private let follow: @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    /// Returns the paired plugs with their last known names; nil if the list cannot be read now.
    private let paired: @Sendable () -> [PlugID: String]?
    /// Receives the changed set of names that discovery must prioritize (see `PlugDirectory.favoured`).
    private let prioritize: @Sendable (Set<String>) -> Void
    private var machine: HouseMachine
    private let actions = ActionQueue<HouseMachine.Action>()
    private var readers: [HouseMachine.FollowerID: Reader] = [:]
    /// The updates whose delivery has not begun, in order. Each follower has at most one element.
    private var deliveries: [(follower: HouseMachine.FollowerID, updates: [Update])] = []
    /// Receives the updates; nil before ``run(_:)`` and after its cancellation, when they are dropped.
    private var deliver: Delivery?
    private var isDelivering = false
    private var isFinished = false
    /// Resumed when everything is finished and delivered.
    private var ending: CheckedContinuation<Void, Never>?

    /// Creates a follower of all plugs that a client finds.
    ///
    /// - Parameters:
    ///   - client: Finds and connects the plugs.
    ///   - cursor: The position at which the events of a plug begin if the plug is not in `known`.
    ///   - known: The last event that the caller has seen of each plug.
    ///   - stateOptions: The conditions under which the plugs send their states; nil for no states.
    public init(
        _ client: PlugClient, after cursor: Cursor = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) {
        self.init(known: known, on: client.eventLoop) {
            client.pairedNames()
        } prioritize: {
            client.prioritize($0)
        } browse: {
            client.announcements().map(\.change)
        } addressed: {
            AddressAnnouncements(paired: client.paired)
        } follow: { name, known in
            client.follow(name, after: cursor, known: known, stateOptions: stateOptions)
        }
    }

    package init(
        known: [PlugID: SequenceNumber] = [:],
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any(),
        paired: @escaping @Sendable () -> [PlugID: String]? = { nil },
        prioritize: @escaping @Sendable (Set<String>) -> Void = { _ in },
        browse: @escaping @Sendable () -> any AsyncSequence<ServiceChange, Never>,
        addressed: @escaping @Sendable () -> any AsyncSequence<ServiceChange, Never> = {
            AsyncStream<ServiceChange> { $0.finish() }
        },
        follow: @escaping @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    ) {
        machine = HouseMachine(known: known)
        executor = eventLoop.executor
        tasks = EventLoopTasks(eventLoop)
        self.paired = paired
        self.prioritize = prioritize
        self.browse = browse
        self.addressed = addressed
        self.follow = follow
    }

    /// Browses and follows plugs until the task is cancelled. Call it once.
    ///
    /// - Parameter deliver: Receives all updates, in order for each plug. A slow call slows down the network input, so
    ///   nothing accumulates.
    public func run(_ deliver: @escaping Delivery) async {
        self.deliver = deliver
        await withTaskCancellationHandler {
            handle(.started)
            let addressing = Task { for await change in addressed() { handle(.announced(change)) } }
            for await change in browse() { handle(.announced(change)) }
            addressing.cancel()
            if Task.isCancelled { stop() } else { handle(.stopping) }
            if !hasEnded { await withCheckedContinuation { ending = $0 } }
        } onCancel: {
            Task { await self.stop() }
        }
        self.deliver = nil
    }

    private func stop() {
        deliver = nil
        handle(.stopping)
    }

    /// Returns the plug with that name, in any capitalization; nil if no plug has the name or if it is ambiguous. The
    /// name of a paired plug refers to this plug only. A plug whose announcement expired while it is connected is found
    /// by its exact name.
    public func plug(named name: String) -> FollowedPlug? {
        reportProofs()
        return machine.follower(named: name).flatMap { readers[$0]?.plug }
    }

    /// Returns the paired plugs with their last known names; nil if the list cannot be read now.
    public func pairedPlugs() -> [PlugID: String]? { paired() }

    /// Returns the object that follows this plug, other than the given one; nil if the house has no such plug.
    func successor(of plug: PlugID, after earlier: FollowedPlug) -> FollowedPlug? {
        reportProofs()
        let own = readers.first { $0.value.plug === earlier }?.key
        return machine.successor(of: plug, after: own).flatMap { readers[$0]?.plug }
    }

    /// Returns the id that a command to this name is restricted to; nil if no paired plug has the name or if it is
    /// ambiguous.
    func owner(of name: String) -> PlugID? { machine.owner(of: name) }

    /// Returns the refusal for a command to a name without a plug.
    func absence(of name: String) -> Refusal { machine.absence(of: name) }

    // MARK: The machine

    private func handle(_ event: HouseMachine.Event) {
        advance(event)
        guard !isDelivering, !deliveries.isEmpty else { return }
        Task(executorPreference: tasks) { await self.deliverAll() }
    }

    /// Handles an event. The caller delivers the updates.
    private func advance(_ event: HouseMachine.Event) {
        actions.perform(machine.handle(event, now: BootClock.now)) { perform($0) }
    }

    private func perform(_ action: HouseMachine.Action) {
        switch action {
        case .readPaired: handle(.paired(paired()))
        case .prioritize(let names): prioritize(names)
        case .follow(let id, let name, let known, let resumed): begin(id, name, known, resumed)
        case .locate(let id):
            guard let plug = readers[id]?.plug else { return }
            Task { await plug.locate() }
        case .read(let id):
            if let turn = readers[id]?.turn {
                readers[id]?.turn = nil
                turn.resume()
            } else {
                readers[id]?.isRequested = true
            }
        case .deliver(let id, let updates): deliveries.append((id, updates))
        case .stop(let id):
            guard let plug = readers[id]?.plug else { return }
            Task { await plug.stop() }
        case .release(let id): readers[id] = nil
        case .finish:
            isFinished = true
            endIfDone()
        }
    }

    private func begin(
        _ id: HouseMachine.FollowerID, _ name: String, _ known: [PlugID: SequenceNumber],
        _ resumed: HouseMachine.Resumption?
    ) {
        var known = known
        for earlier in resumed?.followers ?? [] {
            guard let position = readers[earlier]?.plug.received, position.plug == resumed?.plug else { continue }
            known[position.plug] = position.last
        }
        let plug = follow(name, known)
        readers[id] = Reader(plug: plug)
        Task(executorPreference: tasks) { await self.read(plug, id) }
        Task(executorPreference: tasks) { for await names in plug.renames { await self.renamed(id, to: names) } }
    }

    // MARK: Reports

    private func read(_ plug: FollowedPlug, _ id: HouseMachine.FollowerID) async {
        await turn(of: id)
        for await report in plug.reports {
            if case .connected = report.update { reportProofs() }
            advance(.report(id, report))
            await deliverAll()
            await turn(of: id)
        }
        reportProofs()
        handle(.ended(id, plug.received, at: .now))
    }

    /// Waits until the machine requests the next report.
    private func turn(of id: HouseMachine.FollowerID) async {
        if readers[id]?.isRequested == true {
            readers[id]?.isRequested = false
        } else {
            await withCheckedContinuation { readers[id]?.turn = $0 }
        }
    }

    private func renamed(_ id: HouseMachine.FollowerID, to names: PlugNames) {
        reportProofs()
        handle(.renamed(id, names))
    }

    /// Reports to the machine the ids that plugs have proved since the previous call of this function. A plug may prove
    /// its id long before its report is read.
    private func reportProofs() {
        for (id, reader) in readers {
            guard let proved = reader.plug.id, proved != reader.proved else { continue }
            readers[id]?.proved = proved
            handle(.proved(id, proved))
        }
    }

    // MARK: Updates

    /// Delivers all updates in order, unless another task is doing so.
    private func deliverAll() async {
        guard !isDelivering else { return }
        isDelivering = true
        while !deliveries.isEmpty {
            let batch = deliveries
            deliveries = []
            for delivery in batch {
                for update in delivery.updates { await deliver?(update) }
                advance(.delivered(delivery.follower))
            }
        }
        isDelivering = false
        endIfDone()
    }

    private var hasEnded: Bool { isFinished && !isDelivering && deliveries.isEmpty }

    private func endIfDone() {
        guard hasEnded else { return }
        ending?.resume()
        ending = nil
    }
}
