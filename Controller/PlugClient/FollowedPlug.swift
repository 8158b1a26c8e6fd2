import LinuxNetwork
public import ServiceDiscovery
public import LinuxSystem
package import NIOCore
public import PlugModel
import PlugProtocol
public import PlugTransport
import ProtocolCore
import Synchronization

/// A plug that is being followed: the shell of ``PlugFollower``. All traffic uses one connection, and ``reports``
/// deliver every update. ``Plug`` is the simpler interface for programs that need only events, states or commands.
///
/// Read ``reports`` to the end or call ``stop()``. While the reader is behind, nothing is read from the network,
/// including the answers to commands. A reader that also sends commands must send them from a separate task.
public actor FollowedPlug: ConnectionOwner {
    /// The name under which following began. All reports have this name.
    public nonisolated let name: String
    /// All updates of the plug, for one reader.
    public nonisolated let reports: PlugReports
    /// The new names of the plug after each rename while it is connected. The stream is for one reader; a slow reader
    /// gets only the newest names.
    public nonisolated let renames: AsyncStream<PlugNames>
    /// The id and the names that the plug states at the beginning of a session and on each rename. The plug has proved
    /// its key at that point. The stream is for one reader; a slow reader gets only the newest element.
    nonisolated let introductions: AsyncStream<Introduction>
    /// The executor of the event loop, on which the connection runs as well.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop
    private let connect: @Sendable (FollowedPlug) async throws -> Void
    private let source: PlugReports.Source
    /// The reports of the current event. Their number is limited by the size of one read from the network.
    private var undelivered: [PlugReport] = []
    private(set) var machine: PlugFollower
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugFollower.Action>()
    /// The connection of the session, and one that is to replace it.
    private var connections: [ConnectionID: Connection] = [:]
    /// The place of the current connection; nil without a connection.
    public private(set) var place: ResolvedService?
    private var isReading = true
    private var answers: [RequestID: CheckedContinuation<CommandOutcome, Never>] = [:]
    /// The only plug that may receive the command, for each command that is restricted to one.
    private var receivers: [RequestID: PlugID] = [:]
    private var fetches: [UInt32: any FetchInProgress] = [:]
    var questions: [CheckedContinuation<ControllerAnswer?, Never>] = []
    /// The last request about updates or Wi-Fi.
    var lastInTurn: Task<Result<ControllerAnswer?, Refusal>, Never>?
    var resets: [CheckedContinuation<Result<Disconnection, Refusal>, Never>] = []
    var auditQuestion: CheckedContinuation<Result<AuditPage, Refusal>, Never>?
    private var lastFetch: UInt32 = 0
    private var times = ReportTimes()
    private var random = SystemRandomNumberGenerator()
    let renaming: AsyncStream<PlugNames>.Continuation
    let introducing: AsyncStream<Introduction>.Continuation
    /// The values that other threads may read.
    private nonisolated let published = Mutex(Published())
    /// The name that the search uses.
    var announcedName: String
    /// The user-given name that the plug reported last.
    var givenName: String?
    /// The settings that the plug reported last; nil before the first connection, and if its firmware does not report
    /// them.
    public internal(set) var settings: RemoteSettings?
    /// Resolves a name to addresses, with an element for each change.
    var places: (@Sendable (String) -> AsyncStream<Resolution>)?
    var watchingPlace: Task<Void, Never>?
    private var recent: PlugAddress?
    var announcedKey = AnnouncedKey()
    var keys: PairedPlugsWriter?
    /// The latest write of the plug's keys.
    var storingKey: Task<Void, Never>?

    package init(
        name: String, machine: PlugFollower, eventLoop: any EventLoop,
        connect: @escaping @Sendable (FollowedPlug) async throws -> Void
    ) {
        self.name = name
        self.machine = machine
        self.eventLoop = eventLoop
        self.connect = connect
        executor = eventLoop.executor
        announcedName = name
        (renames, renaming) = AsyncStream<PlugNames>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (introductions, introducing) = AsyncStream<Introduction>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (reports, source) = PlugReports.make()
        source.attach(to: self)
    }

    /// Resolves the name and connects, and reconnects until ``stop()``. Call it again when the plug was announced again
    /// or the network changed: a waiting plug is then retried at once, and an existing connection must answer within
    /// five seconds.
    public func locate() { handle(.located) }

    /// The time after which a plug no longer carries out a command whose caller has given up.
    public static let commandLifetime = PlugFollower.commandDeadline

    /// Sends the command, on this connection or the next, until the plug has answered or the task is cancelled.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - id: The request id; nil for a random one. The plug executes requests with the same id once.
    ///   - plug: The only plug that may receive the command; nil for any plug under this name. A different plug may
    ///     take the name while the command waits for a connection.
    /// - Throws: `Refusal` if the plug refused, if a request with this id is waiting already, if a plug other than
    ///   `plug` is expected under this name, or after ``stop()``; `CancellationError` if the task was cancelled.
    /// - Returns: The resulting state, and the number of the event that records the change; nil if nothing changed.
    @discardableResult
    public func send(
        _ command: PlugCommand, id: RequestID? = nil, only plug: PlugID? = nil
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        let id = id ?? RequestID(drawnFrom: &random)
        guard answers[id] == nil else {
            throw Refusal(.busy, "a request with this id is already waiting for its answer")
        }
        if let plug {
            guard machine.expected ?? plug == plug else { throw Self.differentPlug }
            receivers[id] = plug
        }
        defer { receivers[id] = nil }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answers[id] = continuation
                handle(.command(id, command))
            }
        } onCancel: {
            Task { await self.withdraw(id) }
        }
        // Waits until the plug's next key is stored. Otherwise a program that ends after one command would never
        // confirm the key.
        await storingKey?.value
        try Task.checkCancellation()
        switch outcome {
        case .done(let state, let event): return (state, event)
        case .refused(let refusal): throw refusal
        }
    }

    /// Fetches the samples that the plug still stores between two times, both included, in ascending order of time.
    /// The fetch continues over as many connections as it needs.
    ///
    /// - Throws: `Refusal`, `SampleChunkError` for a damaged chunk, `CancellationError`.
    public func samples(from: WallTime, to: WallTime) async throws -> [PlugSample] {
        let origin = WallTime.now - (BootClock.now - .zero)
        let range = from.instant(since: origin)...max(from, to).instant(since: origin)
        let outcome = await fetch {
            .fetch($0, from: range.lowerBound, to: range.upperBound)
        } into: {
            SamplesInProgress($0, origin: origin, range: range)
        }
        try Task.checkCancellation()
        return try outcome.get()
    }

    /// Runs a fetch. Returns when the fetch is complete or failed, or when the task is cancelled.
    func fetch<Outcome>(
        _ event: (UInt32) -> PlugFollower.Event,
        into begin: (CheckedContinuation<Outcome, Never>) -> some FetchInProgress
    ) async -> Outcome {
        lastFetch &+= 1
        let id = lastFetch
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                fetches[id] = begin(continuation)
                handle(event(id))
            }
        } onCancel: {
            Task { await self.withdraw(fetch: id) }
        }
    }

    /// Fetches the samples of the last `span` that the plug still stores.
    public func samples(last span: Duration) async throws -> [PlugSample] {
        let now = WallTime.now
        return try await samples(from: now - span, to: now)
    }

    /// Notifies the plug that every event up to this one has taken effect.
    public func acknowledge(_ sequence: SequenceNumber) { handle(.request(.acknowledge(sequence))) }

    /// The plug's id and its last received event; nil before the first connection.
    public var position: (plug: PlugID, last: SequenceNumber)? {
        guard let position = machine.position, let plug = position.plug, let last = position.last else { return nil }
        return (plug, last)
    }

    /// Sends a goodbye and ends the reports. Waiting commands and fetches fail with a `Refusal`. Other waiting requests
    /// return as they do when the connection ends.
    public func stop() {
        handle(.stop)
        watchingPlace?.cancel()
        timer.stop()
        for connection in connections.values { connection.close() }
        renaming.finish()
        introducing.finish()
        source.finish()
        let refusal = Refusal(.unknown, "stopped following the plug before it answered")
        for (_, answer) in answers { answer.resume(returning: .refused(refusal)) }
        for (_, fetch) in fetches { fetch.fail(refusal) }
        endQuestions()
        answerAudit(.failure(refusal))
        answerResets(.away("stopped following the plug before it answered"))
        answers = [:]
        fetches = [:]
    }

    /// True while the plug is connected.
    public var isConnected: Bool { machine.isConnected }

    /// True after ``stop()``.
    var isStopped: Bool { if case .stopped = machine.state { true } else { false } }

    /// The id of the last connected plug, which the plug proved; nil before the first connection.
    nonisolated var id: PlugID? { published.withLock { $0.id } }

    /// The value of ``position`` for other threads.
    nonisolated var received: ReceivedPosition? { published.withLock { $0.position } }

    private struct Published: Sendable {
        var id: PlugID?
        var position: ReceivedPosition?
    }

    private func withdraw(_ id: RequestID) {
        handle(.withdraw(id))
        answers.removeValue(forKey: id)?.resume(returning: .refused(Refusal(.unknown, "the request was cancelled")))
    }

    private func withdraw(fetch id: UInt32) {
        finish(fetch: id, CancellationError())
    }

    /// Sets an address that the first connection tries before the plug is searched.
    func begin(at recent: PlugAddress?) { self.recent = recent }

    /// Returns the address of ``begin(at:)`` once.
    func takeRecent() -> PlugAddress? {
        defer { recent = nil }
        return recent
    }

    /// Sets the writer that stores the plug's keys.
    func keepKeys(in keys: PairedPlugsWriter) { self.keys = keys }

    /// The number of commands without an answer.
    var waitingCommands: Int { answers.count }

    /// Sets the plug that must prove its identity on the next connection. Commands that are restricted to a different
    /// plug fail.
    func dialling(_ plug: PlugID) {
        // An attempt to replace a connection changes nothing before it succeeds.
        if connections.isEmpty { expect(plug) }
    }

    /// Uses the connection, on which this plug has proved its identity, unless there is another one.
    ///
    /// - Parameters:
    ///   - plug: The id of the pinned plug.
    ///   - nextKey: The stored key that the plug announced earlier, or nil.
    ///   - place: The place of the connection.
    func opened(_ connection: Connection, to plug: PlugID, nextKey: PublicKey?, at place: ResolvedService) {
        if machine.acceptsConnection {
            guard connections.isEmpty || machine.expected == plug else {
                connection.close()
                return handle(.failed(.away("A different plug is announced under its name.")))
            }
            expect(plug, nextKey: nextKey, at: place)
        }
        opened(connection)
    }

    func expect(_ plug: PlugID, nextKey: PublicKey? = nil, at place: ResolvedService? = nil) {
        self.place = place
        for (request, receiver) in receivers where receiver != plug {
            handle(.withdraw(request))
            answers.removeValue(forKey: request)?.resume(returning: .refused(Self.differentPlug))
        }
        announcedKey.dialling(stored: nextKey)
        handle(.dialling(plug))
    }

    private static let differentPlug = Refusal(
        .deadlinePassed, "the plug is away, and a different plug is announced under its name")

    // MARK: Connection events

    /// Uses the connection for the next session. If connections to two addresses succeed at the same moment, the machine
    /// closes the second one.
    public func opened(_ connection: Connection) {
        connections[connection.id] = connection
        // A reader that is behind pauses the new connection as well.
        if !isReading { connection.setReading(false) }
        if machine.acceptsConnection { announcedKey.opened() }
        handle(.opened(connection.id))
    }

    /// Processes bytes of the connection and attributes a crash during this work to the plug.
    public func received(_ bytes: [UInt8], on id: ConnectionID) {
        CrashAttribution.during(machine.expected) { handle(.received(bytes, on: id)) }
    }

    /// Does nothing: a controller sends too little data to fill a buffer.
    public func writable(_ isWritable: Bool, on id: ConnectionID) {}

    /// Handles the end of the connection.
    public func closed(_ id: ConnectionID) {
        connections[id] = nil
        handle(.closed(id))
    }

    // MARK: The machine

    package func handle(_ event: PlugFollower.Event) {
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now)) { perform($0) }
        let received = position.map { ReceivedPosition(plug: $0.plug, last: $0.last) }
        published.withLock { $0.position = received }
        handOver()
        // The timer holds a strong reference to the plug, so the reader of the reports does not need one while the plug
        // waits to reconnect.
        timer.follow(machine.nextDeadline, now: now, on: eventLoop) {
            self.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: PlugFollower.Action) {
        switch action {
        case .connect:
            Task {
                do {
                    try await connect(self)
                } catch {
                    handle(.failed(Disconnection(error)))
                }
            }
        case .send(let bytes, let id): connections[id]?.send(bytes)
        case .close(let id): connections.removeValue(forKey: id)?.close()
        case .deliver(let update): deliver(update)
        case .finished(let id, let outcome): answers.removeValue(forKey: id)?.resume(returning: outcome)
        case .samples(let id, let chunk, let clock, let last):
            do {
                if try fetches[id]?.receive(chunk, of: clock, last: last) == true { finish(fetch: id) }
            } catch {
                finish(fetch: id, error)
            }
        case .answer(let answer): answered(answer)
        case .nextKey(let key): announced(key)
        case .described(let name, let given, let settings): described(name, given: given, settings)
        case .fetchRefused(let id, let refusal): finish(fetch: id, refusal)
        }
    }

    private func finish(fetch id: UInt32, _ error: (any Error)? = nil) {
        handle(.withdrawFetch(id))
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        if let error { fetch.fail(error) } else { fetch.succeed() }
    }

    private func deliver(_ update: PlugUpdate) {
        switch update {
        case .connected(let plug):
            published.withLock { $0.id = plug.id }
            if let id = machine.connection, let key = connections[id]?.peerKey { proved(key, by: plug.id) }
            welcomed(as: plug.name, given: plug.givenName)
        case .disconnected(let reason, _):
            endQuestions()
            answerAudit(.failure(Refusal(.unknown, "the connection was closed before the plug answered")))
            answerResets(reason)
        case .following, .snapshot, .state, .event, .gap, .log: break
        }
        let at = times.time(of: update, clock: machine.clock, now: BootClock.now, wall: WallTime.now)
        undelivered.append(PlugReport(plug: name, at: at, update: update, source: machine.expected))
    }

    /// Passes all reports to the reader together, so that the reader wakes only once.
    private func handOver() {
        guard !undelivered.isEmpty else { return }
        let reports = undelivered
        undelivered.removeAll(keepingCapacity: true)
        if !source.yield(reports) { setReading(false) }
    }

    private func setReading(_ reads: Bool) {
        guard reads != isReading else { return }
        isReading = reads
        for connection in connections.values { connection.setReading(reads) }
        handle(.reading(reads))
    }

    /// Resumes reading from the network.
    nonisolated func readerWantsMore() {
        eventLoop.execute { self.assumeIsolated { $0.setReading(true) } }
    }

    /// Stops following, because the reader ended.
    nonisolated func readerIsGone() {
        eventLoop.execute { self.assumeIsolated { $0.stop() } }
    }
}

extension WallTime {
    /// Converts the time to a clock that was zero at `origin`; saturates on overflow.
    fileprivate func instant(since origin: WallTime) -> Instant {
        let (elapsed, overflow) = nanosecondsSince1970.subtractingReportingOverflow(origin.nanosecondsSince1970)
        guard overflow else { return Instant(nanoseconds: elapsed) }
        return Instant(nanoseconds: self < origin ? .min : .max)
    }
}
