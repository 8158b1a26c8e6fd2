public import AsyncAlgorithms
import Automation
import DurableRules
import LinuxNetwork
import LinuxSystem
package import NIOCore
import NIOPosix
public import PlugClient
public import PlugModel
import ProtocolCore
import Scripting

/// Runs rules in the house: passes events to ``DurableRules/DurableRuleEngine`` and performs the resulting actions.
public actor RuleRunner {
    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let tasks: EventLoopTasks
    private nonisolated let eventLoop: any EventLoop

    /// The records of the rules, in order. If too many records wait for a slow reader, the oldest records about calls
    /// of scripts are dropped first, then the oldest of all. The number of dropped records is reported as a record.
    public nonisolated let records = AsyncChannel<RunnerRecord>()
    nonisolated let house: any PlugAccess
    /// The store; nil without one, and after the last write.
    private var store: RuleStore?
    private let cipher: RequestIDCipher
    var machine: DurableRuleEngine
    private let actions = ActionQueue<DurableRuleAction>()
    private var timer = DeadlineTimer()
    /// The running commands, limited by the machine.
    private var attempts: [RequestID: Task<Void, Never>] = [:]
    /// The running script calls, limited by the machine.
    var calls: [RequestID: Task<Void, Never>] = [:]
    var effects = EffectQueue()
    /// Performs effects; nil if none can be performed.
    let performer: (any EffectPerforming)?
    /// Calls scripts for rules; nil if none can be run.
    let scripts: (any ScriptCalling)?
    /// The latest replacement of the scripts.
    var replacing: Task<Void, Never>?
    /// The scripts whose rules are active.
    var scriptsRead: [Script]
    private let sun: SunTable?
    private var clock = WallClockWatch()
    /// The faults of the rule files.
    var faults: [RuleFileFault]
    /// The plugs whose history was passed to the rules, which happens once per process.
    var warmed: Set<PlugID> = []
    var random = SystemRandomNumberGenerator()
    /// The records that recorder and observers have not received yet.
    private var unsent = RecordBuffer()
    /// The records that wait for the reader of ``records``.
    private var unread = RecordBuffer()
    /// The delivery to the reader; nil if no record waits.
    private var reading: Task<Void, Never>?
    private var isHandingOver = false
    /// Callers that wait for the delivery: the reports of the house, user requests, and the end of the run.
    private var waitingForHandOver: [CheckedContinuation<Void, Never>] = []
    var isStopping = false
    /// The reason why the last write did not store everything; nil if it did.
    private(set) var storageFault: String?
    /// True if the last write went into the store's reserve, because the regular file could not be written.
    private var usesReserve = false
    /// User requests that wait for their outcome.
    var asked = PendingUserRequests()
    /// Resumed when no effect is running or the time limit has passed.
    var waitingForEffects: CheckedContinuation<Void, Never>?
    /// Resumed when everything is stored.
    private var waitingForStore: CheckedContinuation<Void, Never>?

    /// Creates a runner. Nothing runs before ``run()``.
    ///
    /// - Parameters:
    ///   - set: The first rules; ``replace(_:)`` changes them later.
    ///   - client: Finds and connects the plugs.
    ///   - store: The state of the previous process, and the place for new state; nil to store nothing.
    ///   - performer: Performs the effects of rules. If nil, each effect fails with a message.
    ///   - scripts: Calls scripts' functions for rules. If nil, each call fails with a message.
    ///   - sun: Computes sunrise and sunset; nil if the location of the house is unknown.
    ///   - recorder: Stores the reports of the house in the history, until the run ends.
    ///   - audiences: Observers that receive the same reports and records.
    public init(
        _ set: RuleFileSet, client: PlugClient, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, recorder: Recorder? = nil,
        audiences: [any HouseObserver] = []
    ) {
        self.init(
            set, store: store, performer: performer, scripts: scripts, sun: sun, recorder: recorder,
            audiences: audiences,
            on: client.eventLoop
        ) { HouseFollower(client, after: recorder == nil ? .now : .beginning, known: $0) }
    }

    /// Creates a runner that follows the house with the caller's follower.
    ///
    /// - Parameter follow: Creates the follower of the house. The argument is the number of the last handled event of
    ///   each plug.
    package init(
        _ set: RuleFileSet, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, recorder: Recorder? = nil,
        audiences: [any HouseObserver] = [], on eventLoop: any EventLoop,
        follow: ([PlugID: SequenceNumber]) -> HouseFollower
    ) {
        let cursors = store?.memory.cursors ?? [:]
        let known = EventDeduplicator.first(
            rules: cursors, others: audiences.compactMap(\.cursors), history: recorder?.cursors)
        let follower = follow(known)
        let seen = EventDeduplicator(cursors, others: known, othersAskForAll: recorder != nil, start: BootClock.now)
        let isShared = recorder != nil || !audiences.isEmpty
        let shared = HouseEventHub(
            follower, rules: seen, recorder: recorder, audiences: audiences, known: known, on: eventLoop)
        self.init(
            set, house: isShared ? shared : follower, store: store, performer: performer, scripts: scripts, sun: sun,
            on: eventLoop)
    }

    init(
        _ set: RuleFileSet, house: any PlugAccess, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, on eventLoop: any EventLoop
    ) {
        machine = DurableRuleEngine(rules: set.rules, memory: store?.memory ?? StoredRuleState(), now: BootClock.now)
        faults = set.faults
        self.performer = performer
        self.scripts = scripts
        scriptsRead = set.scripts
        self.sun = sun
        self.house = house
        self.store = store
        cipher = store?.cipher ?? RequestIDCipher()
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        tasks = EventLoopTasks(eventLoop)
    }

    /// Follows the house and runs the rules until the task is cancelled. The caller must read ``records`` to the end;
    /// the channel ends after everything is stored. Call the function once.
    public func run() async {
        await house.rulesChanged(machine.rules, disabled: machine.disabled, faults: faults)
        tell(faults.map { .fileBroken(path: $0.path, words: $0.words) })
        await run(scriptsRead)
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.keepLocalTime() }
                group.addTask { await self.followScripts() }
                await self.house.run { await self.follow($0) }
                group.cancelAll()
            }
        } onCancel: {
            eventLoop.execute { self.assumeIsolated { $0.withdrawAll() } }
        }
        // A separate task, because a cancelled task does not deliver records.
        await Task { await finish() }.value
    }

    private func follow(_ update: HouseFollower.Update) async {
        if case .report(let report) = update, case .connected = report.update { await learnPaired() }
        guard !isStopping else { return }
        CrashAttribution.during(update.source) { handle(update) }
        await handOver()
    }

    /// Sends a command that does not come from a rule. Call it during ``run()``.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - plug: The plug's name.
    ///   - id: The request id. The plug executes requests with the same id once.
    /// - Throws: `Refusal` if the plug refused, or if no plug is followed under this name; `CancellationError` if the
    ///   task was cancelled. The call waits for a followed plug that is disconnected.
    /// - Returns: The resulting state, and the number of the event that records the change; nil if nothing changed.
    public nonisolated func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await house.send(command, to: plug, id: id)
    }

    /// Returns the plug with that name, in any capitalization; nil if no plug has the name or if it is ambiguous.
    public nonisolated func plug(named name: String) async -> FollowedPlug? { await house.plug(named: name) }

    /// Cancels commands and calls. They stay stored without an outcome, and the next process repeats them.
    private func withdrawAll() {
        isStopping = true
        effects.close()
        for attempt in attempts.values { attempt.cancel() }
        for call in calls.values { call.cancel() }
        (attempts, calls) = ([:], [:])
    }

    private func finish() async {
        withdrawAll()
        await endEffects()
        handle(.stopping)
        if !machine.isStored { await withCheckedContinuation { waitingForStore = $0 } }
        // Released explicitly, because the thread of the last write may hold a reference for a moment longer.
        store?.giveBack()
        store = nil
        timer.stop()
        asked.end()
        await scripts?.end()
        await handOver()
        await reading?.value
        records.finish()
        await house.end()
    }

    /// Passes the list of paired plugs to the rules. A name of a plug that is no longer paired may then refer to
    /// another plug.
    func learnPaired() async {
        if let paired = await house.pairedPlugs() { handle(.paired(paired)) }
    }

    private func handle(_ update: HouseFollower.Update) {
        switch update {
        case .found: break
        case .lost(let name): handle(.lost(plug: name))
        case .report(let report):
            if let event = DurableRuleEvent(report, cipher) { handle(event) }
            if case .connected(let description) = report.update { warm(report.plug, description.id) }
        }
    }

    // MARK: The machine

    /// Passes an event to the machine and performs the resulting actions.
    func handle(_ event: DurableRuleEvent) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            guard let self else { return }
            Task { await self.deadlineReached() }
        }
        guard let waiting = waitingForStore, machine.isStored else { return }
        waitingForStore = nil
        waiting.resume()
    }

    private func deadlineReached() async {
        // The wall clock is checked first. If it was just set back, the time that a rule waits for has not come yet.
        _ = lookAtClock()
        handle(.deadlineReached)
        await deliverIfIdle()
    }

    private func perform(_ action: DurableRuleAction) {
        switch action {
        case .store(let memory): write(memory)
        case .send(let request): send(request)
        case .call(let call, let plugs): self.call(call, plugs)
        case .perform(let request):
            effects.add(request)
            beginEffects()
        case .withdraw(let id):
            attempts.removeValue(forKey: id)?.cancel()
            calls.removeValue(forKey: id)?.cancel()
            effects.withdraw(id)
            beginEffects()
        case .acknowledge(let plug, let sequence): Task { await house.acknowledge(sequence, of: plug) }
        case .tell(let notice):
            tell([notice])
            asked.answer(notice, storageFault: storageFault)
        }
    }

    /// Queues records with the current time.
    func tell(_ notices: [RuleNotice]) {
        let now = WallTime.now
        for notice in notices { unsent.add(RunnerRecord(at: now, notice: notice)) }
    }

    /// Writes on another thread, because the disk may be slow and the event loop serves all plugs.
    private func write(_ memory: StoredRuleState) {
        guard let store else { return handle(.stored) }
        let written = NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try store.write(memory) }
        written.whenComplete { [weak self] result in
            guard let self else { return }
            assumeIsolated { $0.written(result) }
        }
    }

    private func written(_ result: Result<RuleStore.Outcome, any Error>) {
        var diskError: FileError?
        switch result {
        case .success(let outcome): (storageFault, diskError) = (outcome.missing, outcome.diskError)
        case .failure(let error): storageFault = "\(error)"
        }
        handle(storageFault.map { .storeFailed(reason: $0) } ?? .stored)
        if let diskError, !usesReserve { tell([.storedInReserve(reason: "\(diskError)")]) }
        if storageFault == nil, diskError == nil, usesReserve { tell([.stored]) }
        usesReserve = diskError != nil
        Task { await deliverIfIdle() }
    }

    private func send(_ request: CommandRequest) {
        guard !isStopping else { return }
        attempts[request.id] = Task(executorPreference: tasks) { await self.attempt(request) }
    }

    private func attempt(_ request: CommandRequest) async {
        let outcome: CommandOutcome
        do {
            let (state, event) = try await house.send(
                request.command, to: request.plug, id: cipher.encrypt(request.id))
            outcome = .done(state, event: event)
        } catch let refusal as Refusal {
            outcome = .refused(refusal)
        } catch {
            // The command was withdrawn, and the machine has already reported that.
            return
        }
        guard !isStopping, attempts.removeValue(forKey: request.id) != nil else { return }
        handle(.commandFinished(request.id, outcome))
        await deliverIfIdle()
    }

    // MARK: The wall clock

    /// Checks the wall clock every second: it may have been set, or daylight saving time may have begun. A schedule
    /// that was skipped by setting the clock must be noticed soon.
    private func keepLocalTime() async {
        while !Task.isCancelled {
            if lookAtClock() { await deliverIfIdle() }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Passes a change of the wall clock to the rules.
    ///
    /// - Returns: True if the wall clock changed since the last check.
    private func lookAtClock() -> Bool {
        // The wall clock is read first. If the thread pauses between the two reads, rules run late rather than early.
        let wall = WallTime.now.nanosecondsSince1970
        let new = clock.look(wall: wall, now: BootClock.now, sun: sun) { second in
            (WallTime(nanosecondsSince1970: 0) + .seconds(second)).localOffset
        }
        guard let new else { return false }
        handle(.clockChanged(new.time, new.sun))
        return true
    }

    /// Passes all records to recorder and observers, and queues them for the reader.
    func handOver() async {
        guard !isHandingOver else { return await withCheckedContinuation { waitingForHandOver.append($0) } }
        await handOverUnsent()
    }

    /// Passes on all records, or returns at once if that is in progress. Used by tasks without a waiting caller.
    func deliverIfIdle() async {
        if !isHandingOver { await handOverUnsent() }
    }

    /// Only one task passes on records, so that they stay in order.
    private func handOverUnsent() async {
        isHandingOver = true
        while let record = unsent.takeNext() {
            await house.note(record)
            unread.add(record)
            if reading == nil { reading = Task(executorPreference: tasks) { await self.sendUnread() } }
        }
        isHandingOver = false
        let waiting = waitingForHandOver
        waitingForHandOver = []
        for continuation in waiting { continuation.resume() }
    }

    /// Passes each record to `print` on a separate thread, because `print` blocks while the output is not read. Returns
    /// after the last record. Nothing else may read ``records``.
    ///
    /// - Parameter print: returns false if the output is closed. Further records are then dropped.
    public nonisolated func printRecords(_ print: @escaping @Sendable (RunnerRecord) -> Bool) async {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        var isRead = true
        for await record in records where isRead {
            isRead = (try? await thread.runIfActive { print(record) }) ?? false
        }
        try? await thread.shutdownGracefully()
    }

    private func sendUnread() async {
        while let record = unread.takeNext() { await records.send(record) }
        reading = nil
    }
}

extension DurableRuleEvent {
    /// Translates a report; nil if the rules do not use it.
    fileprivate init?(_ report: PlugReport, _ cipher: RequestIDCipher) {
        let plug = report.plug
        switch report.update {
        case .connected(let description): self = .connected(plug: plug, id: description.id, boot: description.boot)
        case .following(let sequence): self = .following(plug: plug, after: sequence)
        case .snapshot(let state): self = .snapshot(plug: plug, state)
        case .state(let state): self = .state(plug: plug, state)
        case .event(let event, let age): self = .event(plug: plug, cipher.decrypt(event), age: age)
        case .gap(let gap): self = .gap(plug: plug, gap)
        case .disconnected: self = .disconnected(plug: plug)
        case .log: return nil
        }
    }
}
