public import AsyncAlgorithms
import Automation
import LinuxClocks
import LinuxNetwork
package import NIOCore
import NIOPosix
public import PlugClient
public import PlugModel
import ProtocolCore
import Scripting

/// Runs rules on the house: the shell of ``Automation/HouseRules``.
public actor RuleRunner {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// What is worth telling, in order. A reader that is slow slows the house's reports down.
    public nonisolated let records = AsyncChannel<RunnerRecord>()
    nonisolated let house: any RuledHouse
    /// Given back when everything is stored.
    private var store: RuleStore?
    private let veil: RequestVeil
    var machine: HouseRules
    private let actions = ActionQueue<HouseRulesAction>()
    private var timer = DeadlineTimer()
    /// Commands on their way; the machine bounds them.
    private var attempts: [RequestID: Task<Void, Never>] = [:]
    /// Scripts that are asked; the machine bounds them.
    var calls: [RequestID: Task<Void, Never>] = [:]
    var effects = EffectQueue()
    let performer: (any EffectPerforming)?
    /// Calls scripts for rules; nil where nobody runs any.
    let scripts: (any ScriptCalling)?
    /// The scripts are being replaced, or have been.
    var replacing: Task<Void, Never>?
    /// Those whose rules are among the machine's.
    var scriptsRead: [Script]
    private let sun: SunTable?
    private var clock = WallClockWatch()
    /// What is wrong with the rules' files.
    var faults: [RuleFileFault]
    /// Plugs whose past the rules were told: once a process.
    var warmed: Set<PlugID> = []
    var random = SystemRandomNumberGenerator()
    /// Records made since the last were handed over.
    private var unsent = UnsentRecords()
    private var isHandingOver = false
    /// Of the house's reports, one at a time, of persons, and of the end.
    private var waitingForHandOver: [CheckedContinuation<Void, Never>] = []
    var isStopping = false
    /// Why the last write has not stored everything.
    private(set) var storageFault: String?
    /// The last write went into the store's reserve, since the disk refused it.
    private var usesReserve = false
    /// Persons who wait for what becomes of what they asked for.
    var asked = AskedOfRules()
    /// Resumed when no effect is under way any more, or nobody waits longer.
    var waitingForEffects: CheckedContinuation<Void, Never>?
    /// Resumed when everything is stored.
    private var waitingForStore: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - set: the rules; ``replace(_:)`` gives others later.
    ///   - store: where to go on and what to keep; nil keeps nothing beyond the process.
    ///   - performer: does what rules ask for outside of the house; nil does nothing, and says so.
    ///   - scripts: calls scripts' functions for rules; nil calls none, and says so.
    ///   - sun: says where it rises and sets; nil where nobody knows where the house stands.
    ///   - recorder: keeps what the house reports besides; it goes on until the run ends.
    ///   - audiences: hear it besides.
    public init(
        _ set: RuleFileSet, client: PlugClient, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, recorder: Recorder? = nil,
        audiences: [any HouseAudience] = []
    ) {
        self.init(
            set, store: store, performer: performer, scripts: scripts, sun: sun, recorder: recorder,
            audiences: audiences,
            on: client.eventLoop
        ) { HouseFollower(client, after: recorder == nil ? .now : .beginning, known: $0) }
    }

    /// - Parameter follow: makes what follows the house, after the events that are known.
    package init(
        _ set: RuleFileSet, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, recorder: Recorder? = nil,
        audiences: [any HouseAudience] = [], on eventLoop: any EventLoop,
        follow: ([PlugID: SequenceNumber]) -> HouseFollower
    ) {
        let cursors = store?.memory.cursors ?? [:]
        let known = EventsSeen.first(
            rules: cursors, others: audiences.compactMap(\.cursors), history: recorder?.cursors)
        let follower = follow(known)
        let seen = EventsSeen(cursors, others: known, othersAskForAll: recorder != nil, start: BootClock.now)
        let isShared = recorder != nil || !audiences.isEmpty
        let shared = SharedHouse(
            follower, rules: seen, recorder: recorder, audiences: audiences, known: known, on: eventLoop)
        self.init(
            set, house: isShared ? shared : follower, store: store, performer: performer, scripts: scripts, sun: sun,
            on: eventLoop)
    }

    init(
        _ set: RuleFileSet, house: any RuledHouse, store: RuleStore?, performer: (any EffectPerforming)? = nil,
        scripts: (any ScriptCalling)? = nil, sun: SunTable? = nil, on eventLoop: any EventLoop
    ) {
        machine = HouseRules(rules: set.rules, memory: store?.memory ?? HouseMemory(), now: BootClock.now)
        faults = set.faults
        self.performer = performer
        self.scripts = scripts
        scriptsRead = set.scripts
        self.sun = sun
        self.house = house
        self.store = store
        veil = store?.veil ?? RequestVeil()
        self.eventLoop = eventLoop
        executor = eventLoop.executor
    }

    /// Follows the house and runs the rules until the task is cancelled. The records are to be read to their end, which
    /// comes when everything is stored.
    public func run() async {
        await house.rulesChanged(machine.rules, disabled: machine.disabled, faults: faults)
        tell(faults.map { .fileBroken(path: $0.path, words: $0.words) })
        await run(scriptsRead)
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.house.run() }
                group.addTask { await self.keepLocalTime() }
                group.addTask { await self.followScripts() }
                for await update in house.updates {
                    if case .report(let report) = update, case .connected = report.update { await learnPaired() }
                    PlugInHand.during(update.source) { take(update) }
                    await handOver()
                }
                group.cancelAll()
            }
        } onCancel: {
            eventLoop.execute { self.assumeIsolated { $0.withdrawAll() } }
        }
        // A task of its own, since in a cancelled one nothing is handed over any more.
        await Task { await finish() }.value
    }

    /// Commands a plug of the house for somebody else than a rule. To be asked while it runs.
    ///
    /// - Parameter plug: its announced name.
    /// - Throws: `Refusal` when the plug refused or is away, `CancellationError` when the caller gave up.
    public nonisolated func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await house.send(command, to: plug, id: id)
    }

    /// Tries to reach a plug that is away at once: it was paired meanwhile.
    public nonisolated func locate(_ plug: String) async { await house.locate(plug) }

    /// Commands on their way stay stored without an outcome: the next process sends them again.
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
        // Not left to the store's end: the thread that wrote last may hold it a moment longer.
        store?.giveBack()
        store = nil
        timer.stop()
        asked.end()
        await scripts?.end()
        await handOver()
        records.finish()
        await house.end()
    }

    /// A name that meant a plug which is not paired any more may mean another one.
    func learnPaired() async {
        if let paired = await house.pairedPlugs() { handle(.paired(paired)) }
    }

    private func take(_ update: HouseFollower.Update) {
        switch update {
        case .found: break
        case .lost(let name): handle(.lost(plug: name))
        case .report(let report):
            if let event = HouseRulesEvent(report, veil) { handle(event) }
            if case .connected(let description) = report.update { warm(report.plug, description.id) }
        }
    }

    // MARK: The machine

    func handle(_ event: HouseRulesEvent) {
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
        // A clock that was set back a moment ago shows no second yet for which a rule waits.
        _ = lookAtClock()
        handle(.deadlineReached)
        await handOverMeanwhile()
    }

    private func perform(_ action: HouseRulesAction) {
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

    func tell(_ notices: [HouseNotice]) {
        let now = WallTime.now
        for notice in notices { unsent.add(RunnerRecord(at: now, notice: notice)) }
    }

    /// On a thread of its own, since a disk may take its time and the event loop has all the plugs.
    private func write(_ memory: HouseMemory) {
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
        Task { await handOverMeanwhile() }
    }

    private func send(_ request: CommandRequest) {
        guard !isStopping else { return }
        attempts[request.id] = Task {
            let outcome: CommandOutcome
            do {
                let (state, event) = try await house.send(
                    request.command, to: request.plug, id: veil.veiled(request.id))
                outcome = .done(state, event: event)
            } catch let refusal as Refusal {
                outcome = .refused(refusal)
            } catch {
                // Withdrawn: the machine has told already.
                return
            }
            guard !isStopping, attempts.removeValue(forKey: request.id) != nil else { return }
            handle(.commandFinished(request.id, outcome))
            await handOverMeanwhile()
        }
    }

    // MARK: The clock on the wall

    /// Looks at it each second: it may have been set, and daylight saving time may have begun. A schedule that it was set over is
    /// to be noticed before it is too long ago.
    private func keepLocalTime() async {
        while !Task.isCancelled {
            if lookAtClock() { await handOverMeanwhile() }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// - Returns: whether the wall clock was set since the last look.
    private func lookAtClock() -> Bool {
        // The wall clock first: where there is a pause between the two, rules run late rather than early.
        let wall = WallTime.now.nanosecondsSince1970
        let new = clock.look(wall: wall, now: BootClock.now, sun: sun) { second in
            (WallTime(nanosecondsSince1970: 0) + .seconds(second)).localOffset
        }
        guard let new else { return false }
        handle(.clockChanged(new.time, new.sun))
        return true
    }

    /// Returns when all records made so far are handed over, so that a reader that is slow slows down whatever waits for it here.
    func handOver() async {
        guard !isHandingOver else { return await withCheckedContinuation { waitingForHandOver.append($0) } }
        await handOverUnsent()
    }

    /// The same, but waits for no reader where somebody hands over already: what comes by itself must not gather behind one.
    func handOverMeanwhile() async {
        if !isHandingOver { await handOverUnsent() }
    }

    /// One task does it, or they would overtake each other.
    private func handOverUnsent() async {
        isHandingOver = true
        while let record = unsent.takeNext() {
            await house.note(record)
            await records.send(record)
        }
        isHandingOver = false
        let waiting = waitingForHandOver
        waitingForHandOver = []
        for continuation in waiting { continuation.resume() }
    }
}

extension HouseRulesEvent {
    /// Nil for what no rule hears of.
    fileprivate init?(_ report: PlugReport, _ veil: RequestVeil) {
        let plug = report.plug
        switch report.update {
        case .connected(let description): self = .connected(plug: plug, id: description.id, boot: description.boot)
        case .following(let sequence): self = .following(plug: plug, after: sequence)
        case .snapshot(let state): self = .snapshot(plug: plug, state)
        case .state(let state): self = .state(plug: plug, state)
        case .event(let event, let age): self = .event(plug: plug, veil.unveiled(event), age: age)
        case .gap(let gap): self = .gap(plug: plug, gap)
        case .disconnected: self = .disconnected(plug: plug)
        case .log: return nil
        }
    }
}
