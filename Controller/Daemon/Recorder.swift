import Automation
import DurableRules
import LinuxNetwork
import LinuxSystem
import Metering
public import NIOCore
import NIOPosix
import PlugClient
import PlugModel
public import PowerHistory
import ProtocolCore

/// Stores the reports of a house's plugs in the history. ``BackfillPlan`` decides which samples it fetches from the
/// plugs, and ``RecordQueue`` when it writes. Writes run on a separate thread. While they fail, events are queued and
/// the plugs keep their samples.
public actor Recorder {
    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// The last event of each plug that was stored when the recorder began.
    nonisolated let cursors: [PlugID: SequenceNumber]
    let history: any WritableHistory
    let complain: @Sendable (String) -> Void
    /// The thread that only the history uses. A locked database blocks this thread, and must not block the storage of
    /// the rules.
    let thread = NIOThreadPool(numberOfThreads: 1)
    private(set) var house: (any SampleSource)?
    private var plan = BackfillPlan()
    var queue = RecordQueue()
    private let actions = ActionQueue<BackfillPlan.Action>()
    private var timer = DeadlineTimer()
    private var fetches: [BackfillPlan.Window: Task<Void, Never>] = [:]

    /// The filter for events that are already stored.
    var seen: EventDeduplicator
    /// The connected plugs by name.
    var present: [String: (id: PlugID, boot: BootID)] = [:]
    var counters: [PlugID: CounterSampler] = [:]
    /// The plugs with events that did not fit into the queue. No further events of these plugs are stored, so that the
    /// next process requests the missing ones.
    var behind: Set<PlugID> = []
    var forgotAt: Instant?
    var hasComplainedOfAge = false
    /// The traces of the rules, built from their records.
    var book: TraceRecorder
    var budget = TraceBudget()
    /// The reason why the last write failed; nil if it succeeded.
    public internal(set) var fault: String?
    /// The maximum number of traces of firings from the last 24 hours that the recorder reads when it is created.
    private static let resumed = 2000
    private var isFinishing = false
    /// True after the last write. Further changes are left to the next process.
    private(set) var hasEnded = false
    /// True after the plan has ended. Further reports are left to the next process.
    private(set) var isClosing = false
    private var waitingForPlan: CheckedContinuation<Void, Never>?
    private var waitingForQueue: CheckedContinuation<Void, Never>?

    /// Creates a recorder that continues after the stored events.
    ///
    /// - Parameters:
    ///   - history: A history that is open for writing. The recorder uses it on its own thread.
    ///   - eventLoop: The event loop of the actor.
    ///   - complain: Receives messages for the user, with a `hint:` line.
    /// - Throws: `HistoryError` if the stored positions cannot be read.
    public init(
        _ history: PowerHistory, on eventLoop: any EventLoop, complain: @escaping @Sendable (String) -> Void
    ) throws(HistoryError) {
        let now = WallTime.now.milliseconds
        // If this fails, records of earlier firings cannot be assigned to their traces. Nothing else is lost.
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
        book = TraceRecorder(resuming: traces)
        self.eventLoop = eventLoop
        self.complain = complain
        executor = eventLoop.executor
        seen = EventDeduplicator(cursors, start: BootClock.now)
        thread.start()
    }

    /// Sets the source of samples.
    func begin(_ house: any SampleSource) { self.house = house }

    /// Fetches the last samples for at most two seconds, writes all queued changes in one attempt, and ends.
    func finish() async {
        isFinishing = true
        plan(.stopping)
        if !plan.isDone(now: BootClock.now) { await withCheckedContinuation { waitingForPlan = $0 } }
        for fetch in fetches.values { fetch.cancel() }
        fetches = [:]
        isClosing = true
        // The queue is written once more even if the last write failed, because the disk may have free space now.
        queue.hurry(now: BootClock.now)
        go()
        if queue.isWriting || !queue.isEmpty && !queue.isFailing {
            await withCheckedContinuation { waitingForQueue = $0 }
        }
        hasEnded = true
        timer.stop()
        // Waits for a write in progress, because an interrupted transaction is rolled back.
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
        let found = BackfillResult(window, answer)
        // Each window is stored with a counter reading, from which the energy of the window is computed.
        if let counter = counters[window.plug]?.unrecorded() {
            queue.add(now: BootClock.now) { $0.counters.append(counter) }
        }
        queue.add(found, now: BootClock.now)
        go()
    }

    /// Writes the due changes and schedules the next call.
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

    /// Runs work on the recorder's thread.
    func onThread<Answer: Sendable>(
        _ work: @escaping @Sendable (any WritableHistory) throws -> Answer
    ) async throws -> Answer {
        let history = history
        return try await thread.runIfActive { try work(history) }
    }
}
