public import BrokerConfiguration
public import Daemon
import JSONText
import LinuxNetwork
import LinuxSystem
import MQTT
public import NIOCore
import NIOPosix
public import PlugClient
public import PlugModel
import PlugTopics
import ProtocolCore
public import RuleModel

/// Connects the house to an MQTT broker: the shell of `BrokerMachine`. It receives the same updates as the rules, the
/// history and the dashboard, and sends commands through the same connections to the plugs.
public actor BrokerDoor: HouseObserver {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    public nonisolated let cursors: [PlugID: SequenceNumber]?

    /// Sends a command to a plug by its name.
    public typealias Commanding =
        @Sendable (PlugCommand, String, RequestID) async throws -> (state: PlugState, event: SequenceNumber?)

    /// Requests the update of a plug's system.
    public typealias Updating = @Sendable (PlugID) async -> Refusal?

    /// The maximum number of events that are not on disk yet. It limits the memory while the disk is full.
    private static let unwrittenLimit = 10_000
    private static let pauseAfterFailure = TimeAmount.seconds(5)
    /// The time in which changes are combined into one write.
    private static let gathering = TimeAmount.milliseconds(200)
    /// The interval between two readings of the list of paired plugs. Another program may have unpaired a plug.
    private static let pairedInterval = Duration.seconds(10)
    /// The time that an orderly stop waits for the broker.
    private static let patienceAtEnd = TimeAmount.seconds(2)

    private let settings: BrokerSettings
    private let configuration: BrokerMachine.Configuration
    private let journal: BrokerJournal
    private let paired: @Sendable () -> Set<PlugID>?
    private let complain: @Sendable (String) -> Void
    /// The threads of the connection and the disk.
    private let threads = NIOThreadPool(numberOfThreads: 2)
    private var machine: BrokerMachine
    private let actions = ActionQueue<BrokerMachine.Action>()
    private var timer = DeadlineTimer()
    private var connection: BrokerConnection?
    private var send: Commanding?
    private let update: Updating?
    private var isEnding = false
    private var ended: CheckedContinuation<Void, Never>?

    private var names: [PlugID: String] = [:]
    private var ids: [String: PlugID] = [:]
    private var newest: QueuedEvent.Position
    private var last: [PlugID: SequenceNumber]
    /// The plugs with an event that was skipped because `unwrittenLimit` events were waiting for the disk. Their later
    /// events are skipped too, so the stored cursor stays before the first skipped event, and the next process requests
    /// these events again.
    private var behind: Set<PlugID> = []
    private var unwritten = BrokerJournal.Change()
    /// The change of the current write, and its result. Stays set during the pause after a failed write.
    private var writing: (change: BrokerJournal.Change, written: EventLoopFuture<Void>)?
    private var isWaitingToWrite = false
    private var hasToldFailure = false

    /// Opens the journal. The broker is not connected before ``run(_:)``.
    ///
    /// - Parameters:
    ///   - directory: the directory of the journal, which belongs to this process.
    ///   - update: requests the update of a plug's system, and returns why it does not begin; nil if clients
    ///     of the broker may not begin updates.
    ///   - paired: returns the plugs of the house, or nil if they are unknown.
    ///   - complain: called with messages for the user, with a `hint:` line.
    /// - Throws: errors of the file system or SQLite.
    public init(
        _ settings: BrokerSettings, directory: String, update: Updating? = nil,
        paired: @escaping @Sendable () -> Set<PlugID>? = { Set<PlugID>.paired }, on eventLoop: any EventLoop,
        complain: @escaping @Sendable (String) -> Void
    ) throws {
        self.settings = settings
        self.update = update
        self.paired = paired
        self.eventLoop = eventLoop
        self.complain = complain
        executor = eventLoop.executor
        try FileStore().makeDirectories(directory)
        journal = try BrokerJournal(directory + "/broker.sqlite")
        let memory = journal.memory
        cursors = memory.cursors
        last = memory.cursors
        newest = memory.newest
        var random = SystemRandomNumberGenerator()
        configuration = BrokerMachine.Configuration(
            tree: settings.tree, discovery: settings.discovery, servers: settings.account.servers.count,
            takesCommands: settings.takesCommands, updatesSystems: update != nil)
        machine = BrokerMachine(
            configuration, known: memory.published, after: memory.acknowledged, newest: memory.newest,
            seed: random.next())
        threads.start()
    }

    /// Runs the connection to the broker until the task is cancelled.
    public func run(_ send: @escaping Commanding) async {
        self.send = send
        handle(.started)
        while !Task.isCancelled {
            await learnPaired()
            try? await Task.sleep(for: Self.pairedInterval)
        }
        // A separate task, because `end` must also wait after the cancellation of this task.
        await Task { await end() }.value
    }

    private func end() async {
        isEnding = true
        timer.stop()
        handle(.stopping)
        if connection != nil {
            eventLoop.scheduleTask(in: Self.patienceAtEnd) { [weak self] in self?.assumeIsolated { $0.hasEnded() } }
            await withCheckedContinuation { ended = $0 }
        }
        try? await writing?.written.get()
        write()
        try? await writing?.written.get()
        // A thread that is still connecting would delay the shutdown of the pool. The thread ends by itself.
        if connection == nil { try? await threads.shutdownGracefully() }
    }

    private func hasEnded() {
        ended?.resume()
        ended = nil
    }

    private func learnPaired() async {
        // If the list cannot be read, the machine keeps the previous list.
        guard let plugs = try? await threads.runIfActive({ [paired] in paired() }) else { return }
        handle(.paired(plugs))
    }

    // MARK: Reports of the house

    public func note(_ record: RunnerRecord) {}
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}

    public func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update else { return }
        switch report.update {
        case .connected(let description):
            if let before = names[description.id] { ids[before] = nil }
            names[description.id] = report.plug
            ids[report.plug] = description.id
            let portrait = PlugPortrait(
                name: report.plug, firmware: description.firmware, capabilities: description.capabilities,
                networks: description.networks)
            handle(.met(description.id, portrait))
        case .snapshot(let state), .state(let state):
            guard let plug = ids[report.plug] else { return }
            handle(.state(plug, state, at: report.at.iso8601()))
        case .event(let event, let age):
            guard let plug = ids[report.plug] else { return }
            let message = JSONObject(event, of: plug, at: report.at.iso8601(), age: age?.inSeconds)
            add(message, event.sequence, plug)
        case .gap(let gap):
            guard let plug = ids[report.plug] else { return }
            add(JSONObject(gap, of: plug, at: report.at.iso8601()), gap.to, plug)
        case .following(let sequence):
            guard let plug = ids[report.plug], sequence > last[plug] ?? 0 else { return }
            last[plug] = sequence
            unwritten.cursors[plug] = sequence
            writeSoon()
        case .disconnected:
            guard let plug = ids.removeValue(forKey: report.plug) else { return }
            handle(.away(plug))
            Task { await learnPaired() }
        case .log: break
        }
    }

    /// Publishes the system of a plug.
    ///
    /// - Parameter available: the version of the newest system; nil if it is unknown.
    public func publish(_ report: UpdateReport, available: String?, of plug: PlugID) {
        handle(.system(plug, report, available: available))
    }

    private func add(_ message: JSONObject, _ sequence: SequenceNumber, _ plug: PlugID) {
        guard sequence > last[plug] ?? 0, !behind.contains(plug) else { return }
        guard unwritten.entries.count < Self.unwrittenLimit else {
            behind.insert(plug)
            return
        }
        last[plug] = sequence
        newest += 1
        let entry = QueuedEvent(position: newest, plug: plug, sequence: sequence, payload: message.text)
        unwritten.entries.append(entry)
        handle(.happened(entry))
        // The event is published before it is stored. After a crash the plug sends unstored events again.
        writeSoon()
    }

    // MARK: The machine

    private func handle(_ event: BrokerMachine.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        guard !isEnding else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: BrokerMachine.Action) {
        switch action {
        case .connect(let server): connect(server)
        case .disconnect: connection?.end()
        case .subscribe(let filters): connection?.subscribe(filters)
        case .publish(let ticket, let publication): connection?.publish(ticket, publication)
        case .fetch(let after, let limit): fetch(after, limit)
        case .keep(let position):
            unwritten.acknowledged = position
            writeSoon()
        case .command(let ticket, let plug, let command, let id, let time):
            self.command(ticket, plug, command, id, time)
        case .update(let ticket, let plug):
            Task { [update] in handle(.updateAnswered(ticket, await update?(plug))) }
        case .replay(let ticket, let plug, let sequence): replay(ticket, plug, sequence)
        case .remember(let plug):
            unwritten.published[plug] = true
            writeSoon()
        case .forget(let plug):
            unwritten.published[plug] = false
            writeSoon()
        case .tell(let notice): tell(notice)
        }
    }

    private func connect(_ server: Int) {
        let options: BrokerOptions
        do throws(FileError) {
            options = try settings.options(client: journal.memory.client, for: .house)
        } catch {
            let reason = "\(error)"
            return eventLoop.execute { self.assumeIsolated { $0.handle(.disconnected(reason: reason)) } }
        }
        connection = BrokerConnection(settings.account.servers[server], options, on: eventLoop, thread: threads) {
            [weak self] event in
            self?.assumeIsolated { $0.heard(event) }
        }
    }

    private func heard(_ event: BrokerConnection.Event) {
        switch event {
        case .connected: handle(.connected)
        case .acknowledged(let ticket, let refusal): handle(.acknowledged(ticket, refusal: refusal))
        case .received(let message): handle(.received(message))
        case .subscribed: break
        case .notSubscribed:
            let filters = configuration.filters
            complain(
                "the broker does not allow this house to receive commands\n"
                    + "hint: its access rules must allow reading of \(filters.joined(separator: " and "))"
            )
        case .ended(let reason, let isTakenOver):
            connection = nil
            handle(isTakenOver ? .takenOver : .disconnected(reason: reason))
            hasEnded()
        }
    }

    private func command(
        _ ticket: BrokerTicket, _ plug: PlugID, _ command: PlugCommand, _ id: RequestID, _ time: Duration
    ) {
        guard let name = names[plug], let send else {
            return answer(ticket, .refused(Refusal(.deadlinePassed, "the plug is away")))
        }
        Task {
            let outcome = await withTaskGroup(of: CommandOutcome.self) { group in
                group.addTask {
                    do {
                        let (state, event) = try await send(command, name, id)
                        return .done(state, event: event)
                    } catch let refusal as Refusal {
                        return .refused(refusal)
                    } catch {
                        return .refused(Refusal(.deadlinePassed, "the plug did not answer in time"))
                    }
                }
                group.addTask {
                    try? await Task.sleep(for: time)
                    return .refused(Refusal(.deadlinePassed, "the plug did not answer in time"))
                }
                defer { group.cancelAll() }
                return await group.next() ?? .refused(Refusal(.deadlinePassed, "the plug did not answer in time"))
            }
            answer(ticket, outcome)
        }
    }

    private func answer(_ ticket: BrokerTicket, _ outcome: CommandOutcome) { handle(.answered(ticket, outcome)) }

    private func tell(_ notice: BrokerNotice) { complain(notice.words(settings, in: "broker.toml")) }

    // MARK: The journal

    private func writeSoon() {
        guard writing == nil, !isWaitingToWrite else { return }
        isWaitingToWrite = true
        eventLoop.scheduleTask(in: Self.gathering) { [weak self] in
            self?.assumeIsolated {
                $0.isWaitingToWrite = false
                $0.write()
            }
        }
    }

    /// Starts a write. Only one is in progress at a time; later changes share the next one.
    private func write() {
        guard writing == nil, !unwritten.isEmpty else { return }
        let change = unwritten
        unwritten = BrokerJournal.Change()
        let written = threads.runIfActive(eventLoop: eventLoop) { [journal] in try journal.write(change) }
        writing = (change, written)
        written.whenComplete { [weak self] result in self?.assumeIsolated { $0.written(result) } }
    }

    private func written(_ result: Result<Void, any Error>) {
        guard let change = writing?.change else { return }
        if case .failure(let error) = result {
            unwritten = change.followed(by: unwritten)
            tellFailure(error)
            guard !isEnding else { return writing = nil }
            eventLoop.scheduleTask(in: Self.pauseAfterFailure) { [weak self] in
                self?.assumeIsolated {
                    $0.writing = nil
                    $0.write()
                }
            }
        } else {
            hasToldFailure = false
            writing = nil
            write()
        }
    }

    private func tellFailure(_ error: any Error) {
        guard !hasToldFailure else { return }
        hasToldFailure = true
        complain(
            "events for the broker cannot be stored: \(error)\n"
                + "hint: free some disk space; if the daemon crashes before that, it publishes some events again")
    }

    private func fetch(_ after: QueuedEvent.Position, _ limit: Int) {
        let waiting = (writing?.change ?? BrokerJournal.Change()).followed(by: unwritten).entries
        let read = threads.runIfActive(eventLoop: eventLoop) { [journal] in
            try journal.entries(after: after, limit: limit)
        }
        read.whenComplete { [weak self] result in
            self?.assumeIsolated { door in
                guard case .success(var entries) = result else { return door.fetchAgain(after, limit) }
                let end = entries.last?.position ?? after
                // Unwritten events follow the stored ones.
                if entries.count < limit {
                    entries += waiting.filter { $0.position > end }.prefix(limit - entries.count)
                }
                door.handle(.fetched(entries))
            }
        }
    }

    /// Repeats a failed read later; no event is lost.
    private func fetchAgain(_ after: QueuedEvent.Position, _ limit: Int) {
        guard !isEnding else { return }
        eventLoop.scheduleTask(in: Self.pauseAfterFailure) { [weak self] in
            self?.assumeIsolated { $0.fetch(after, limit) }
        }
    }

    private func replay(_ ticket: BrokerTicket, _ plug: PlugID, _ sequence: SequenceNumber) {
        let read = threads.runIfActive(eventLoop: eventLoop) { [journal] in
            try journal.events(of: plug, after: sequence)
        }
        read.whenComplete { [weak self] result in
            self?.assumeIsolated { door in
                switch result {
                case .success(let found): door.handle(.replayed(ticket, found.messages, hasMore: found.hasMore))
                case .failure: door.answer(ticket, .refused(Refusal(.storageFailed, "the journal cannot be read")))
                }
            }
        }
    }
}

extension Set<PlugID> {
    /// The plugs paired with the user's programs; nil if the list cannot be read.
    public static var paired: Set? { (try? PairedPlugs().all()).map { Set($0.map(\.id)) } }
}
