import Automation
import LinuxClocks
import LinuxNetwork
import Metering
public import NIOCore
import NIOPosix
import PlugClient
import PlugModel
public import PowerHistory
import ProtocolCore

/// Keeps in the history what the plugs of a house report: the shell of ``BackfillPlan`` and ``RecordQueue``. It holds nobody
/// up: the disk has a thread of its own, and while it cannot be written, events wait and plugs keep their samples.
public actor Recorder {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// The last event stored of each plug, when this began.
    nonisolated let cursors: [PlugID: SequenceNumber]
    let history: any WritableHistory
    let complain: @Sendable (String) -> Void
    /// Not the one that rules are stored by: a database that is locked would hold it.
    let thread = NIOThreadPool(numberOfThreads: 1)
    private(set) var house: (any RecordedHouse)?
    private var plan = BackfillPlan()
    var queue = RecordQueue()
    private let actions = ActionQueue<BackfillPlan.Action>()
    private var timer = DeadlineTimer()
    private var fetches: [BackfillPlan.Window: Task<Void, Never>] = [:]

    var seen: EventsSeen
    /// The plugs that are connected, by name.
    var present: [String: (id: PlugID, boot: BootID)] = [:]
    var counters: [PlugID: CounterCourse] = [:]
    /// Plugs of which an event found no room: theirs end here, so that the next process asks for the rest.
    var behind: Set<PlugID> = []
    var forgotAt: Instant?
    var hasComplainedOfAge = false
    /// What rules do, as it is told.
    var book: TraceBook
    var budget = TraceBudget()
    /// Why the last write failed; nil where it did not.
    public internal(set) var fault: String?
    /// Firings that are looked through for those of which more may come.
    private static let resumed = 2000
    private var isFinishing = false
    /// What comes from now on is for the next process.
    private(set) var hasEnded = false
    /// The plan is done at the stop: what is heard from now on is for the next process.
    private(set) var isClosing = false
    private var waitingForPlan: CheckedContinuation<Void, Never>?
    private var waitingForQueue: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - history: open to record; it is used on a thread of its own.
    ///   - complain: takes what a person should know, with a `hint:` line.
    public init(
        _ history: PowerHistory, on eventLoop: any EventLoop, complain: @escaping @Sendable (String) -> Void
    ) throws(HistoryError) {
        let now = WallTime.now.milliseconds
        // Without them an answer that comes now finds no step that it answers, and nothing else is lost.
        let open = (try? history.firedTraces(from: now - 86_400_000, newest: Self.resumed)) ?? []
        self.init(
            history, cursors: try history.cursors(), resuming: open.compactMap { RuleTrace($0) }, on: eventLoop,
            complain: complain)
    }

    init(
        _ history: any WritableHistory, cursors: [PlugID: SequenceNumber], resuming traces: [RuleTrace] = [],
        on eventLoop: any EventLoop, complain: @escaping @Sendable (String) -> Void
    ) {
        self.history = history
        self.cursors = cursors
        book = TraceBook(resuming: traces)
        self.eventLoop = eventLoop
        self.complain = complain
        executor = eventLoop.executor
        seen = EventsSeen(cursors, start: BootClock.now)
        thread.start()
    }

    func begin(_ house: any RecordedHouse) { self.house = house }

    /// Fetches what came last, writes all that waits, each for a moment only, and ends.
    func finish() async {
        isFinishing = true
        plan(.stopping)
        if !plan.isDone(now: BootClock.now) { await withCheckedContinuation { waitingForPlan = $0 } }
        for fetch in fetches.values { fetch.cancel() }
        fetches = [:]
        isClosing = true
        // Once more, also where the last write failed: there may be room by now.
        queue.hurry(now: BootClock.now)
        go()
        if queue.isWriting || !queue.isEmpty && !queue.isFailing {
            await withCheckedContinuation { waitingForQueue = $0 }
        }
        hasEnded = true
        timer.stop()
        // What is being written is awaited: half a transaction is none.
        try? await thread.shutdownGracefully()
    }

    // MARK: The plan

    func plan(_ event: BackfillPlan.Event) {
        actions.perform(plan.handle(event, now: BootClock.now), by: perform)
        go()
    }

    private func perform(_ action: BackfillPlan.Action) {
        switch action {
        case .look(let plug, let boot): Task { await look(plug, boot) }
        case .fetch(let window): fetches[window] = Task { await fetch(window) }
        case .withdraw(let window): fetches.removeValue(forKey: window)?.cancel()
        }
    }

    private func name(of plug: PlugID) -> String? { present.first { $0.value.id == plug }?.key }

    private func look(_ plug: PlugID, _ boot: BootID) async {
        guard let name = name(of: plug), let clock = await house?.clock(of: name), clock.boot == boot else {
            return plan(.lookFailed(plug, boot))
        }
        let now = clock.plugTime(at: BootClock.now).nanoseconds / 1_000_000
        do {
            let holes = try await onThread { try $0.missing(of: plug, boot: boot, through: now) }
            plan(.missing(plug, boot, holes, now: now))
        } catch {
            plan(.lookFailed(plug, boot))
        }
    }

    private func fetch(_ window: BackfillPlan.Window) async {
        guard let name = name(of: window.plug), let house,
            let answer = try? await house.chunks(of: name, boot: window.boot, window.range)
        else {
            fetches[window] = nil
            return plan(.failed(window))
        }
        fetches[window] = nil
        guard !isClosing, queue.hasRoomForAnswer else { return plan(.failed(window)) }
        let found = WindowAnswer(window, answer)
        // A counter reading with each recording: the energy of what it holds is known by it.
        if let counter = counters[window.plug]?.unrecorded() {
            queue.add(now: BootClock.now) { $0.counters.append(counter) }
        }
        queue.add(found, now: BootClock.now)
        go()
    }

    /// Writes what is due, and comes back for what is not.
    func go() {
        guard !hasEnded else { return }
        let now = BootClock.now
        if isFinishing, !queue.isFailing { queue.hurry(now: now) }
        if let batch = queue.begin(now: now) { write(batch) }
        timer.follow(sooner(plan.nextDeadline, queue.nextDeadline), now: now, on: eventLoop) { [weak self] in
            guard let self else { return }
            assumeIsolated { $0.plan(.deadlineReached) }
        }
        if let waiting = waitingForPlan, plan.isDone(now: now) {
            waitingForPlan = nil
            waiting.resume()
        }
        if let waiting = waitingForQueue, queue.isEmpty || queue.isFailing && !queue.isWriting {
            waitingForQueue = nil
            waiting.resume()
        }
    }

    func onThread<Answer: Sendable>(
        _ work: @escaping @Sendable (any WritableHistory) throws -> Answer
    ) async throws -> Answer {
        let history = history
        return try await thread.runIfActive { try work(history) }
    }
}
