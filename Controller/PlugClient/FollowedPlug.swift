public import LinuxClocks
import LinuxNetwork
package import NIOCore
public import PlugModel
public import PlugTransport
import ProtocolCore
import Synchronization

/// A plug that is being followed: the shell of ``PlugFollower``. Everything goes over one connection, and ``reports`` tell
/// all that is heard; ``Plug`` is the nearer way for a program that wants one thing.
///
/// Read ``reports`` to its end or stop: while nobody reads, nothing more is taken from the network, the answers to commands
/// included. So a reader that commands while it reads does it from a task of its own.
public actor FollowedPlug: ConnectionOwner {
    /// What it was called when following began; reports bear it to their end.
    public nonisolated let name: String
    public nonisolated let reports: PlugReports
    /// Each name that the plug is given while it is connected; a slow reader gets the newest. For one reader.
    public nonisolated let renames: AsyncStream<PlugNames>
    /// Each time that the plug says in a session what it is called, which nobody else can say; a slow reader gets the newest.
    /// For one reader.
    nonisolated let introductions: AsyncStream<Introduction>
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop
    private let connect: @Sendable (FollowedPlug) async throws -> Void
    private let source: PlugReports.Source
    /// What came of the present event: bounded by what one reading from the network holds.
    private var undelivered: [PlugReport] = []
    private(set) var machine: PlugFollower
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugFollower.Action>()
    private var connection: Connection?
    private var isReading = true
    private var answers: [RequestID: CheckedContinuation<CommandOutcome, Never>] = [:]
    /// The only plug that may get the command, for each command that has one.
    private var receivers: [RequestID: PlugID] = [:]
    private var fetches: [UInt32: any FetchInProgress] = [:]
    var questions: [CheckedContinuation<Answer?, Never>] = []
    var resets: [CheckedContinuation<Result<Disconnection, Refusal>, Never>] = []
    var auditQuestion: CheckedContinuation<Result<AuditPage, Refusal>, Never>?
    private var lastFetch: UInt32 = 0
    private var times = ReportTimes()
    private var random = SystemRandomNumberGenerator()
    let renaming: AsyncStream<PlugNames>.Continuation
    let introducing: AsyncStream<Introduction>.Continuation
    private nonisolated let provenID = Mutex<PlugID?>(nil)
    /// The name under which it is looked for.
    var announcedName: String
    /// The name that a person gave it, as it said last.
    var givenName: String?
    /// How it is set up, as it said last; nil before the first connection, and where its firmware does not tell.
    public internal(set) var settings: RemoteSettings?
    /// Where the plug of that name turns out to be.
    var places: (@Sendable (String) -> AsyncStream<Resolution>)?
    var watchingPlace: Task<Void, Never>?
    var announcedKey = AnnouncedKey()
    var keys: PairedPlugsWriter?
    /// The last write of the plug's keys.
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

    /// Resolves, connects and goes on doing so until ``stop()``. Call it again when there is reason to look at once: the plug
    /// was announced anew, or the network changed. A connection that stands then has to prove itself within five seconds.
    public func locate() { handle(.located) }

    /// Sends the command, on this connection or the next, until the plug has answered or the task is cancelled.
    ///
    /// - Parameter plug: the only plug that gets the command; nil for any that is followed under this name. A different plug may take
    ///   the name while the command waits for a connection.
    /// - Throws: `Refusal` when the plug refused, `CancellationError` when the caller gave up.
    /// - Returns: the state that resulted, and the number of the event that records it if something changed.
    @discardableResult
    public func send(
        _ command: PlugCommand, id: RequestID? = nil, only plug: PlugID? = nil
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        let id = id ?? RequestID(drawnFrom: &random)
        guard answers[id] == nil else { throw Refusal(.busy, "this request is waiting for its answer already") }
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
        // Else a program that ends now would never confirm the plug's next key.
        await storingKey?.value
        try Task.checkCancellation()
        switch outcome {
        case .done(let state, let event): return (state, event)
        case .refused(let refusal): throw refusal
        }
    }

    /// The samples that the plug still has between two points of time, both included, in order. It takes as many connections
    /// as it needs.
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

    /// Returns when what `begin` makes has everything, or has failed; at the latest when the task is cancelled.
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

    /// The samples that the plug still has of the last `span`.
    public func samples(last span: Duration) async throws -> [PlugSample] {
        let now = WallTime.now
        return try await samples(from: now - span, to: now)
    }

    /// Every event up to this one has taken effect here.
    public func acknowledge(_ sequence: SequenceNumber) { handle(.acknowledge(sequence)) }

    /// The last event accounted for of the plug that is followed; nil before it was reached.
    public var position: (plug: PlugID, last: SequenceNumber)? {
        guard let position = machine.position, let plug = position.plug, let last = position.last else { return nil }
        return (plug, last)
    }

    /// Says goodbye and ends the reports.
    public func stop() {
        handle(.stop)
        watchingPlace?.cancel()
        timer.stop()
        connection?.close()
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

    /// Nothing more comes of it.
    var isStopped: Bool { if case .stopped = machine.state { true } else { false } }

    /// Of the plug that was connected last, which proved it; nil before the first.
    nonisolated var id: PlugID? { provenID.withLock { $0 } }

    private func withdraw(_ id: RequestID) {
        handle(.withdraw(id))
        answers.removeValue(forKey: id)?.resume(returning: .refused(Refusal(.unknown, "given up")))
    }

    private func withdraw(fetch id: UInt32) {
        finish(fetch: id, CancellationError())
    }

    /// Stores the plug's keys there.
    func keepKeys(in keys: PairedPlugsWriter) { self.keys = keys }

    /// Commands without an answer.
    var waitingCommands: Int { answers.count }

    /// Who will prove to be there on the next connection.
    ///
    /// - Parameter nextKey: the key that the plug announced before, as it is stored.
    func expect(_ plug: PlugID, nextKey: PublicKey? = nil) {
        for (request, receiver) in receivers where receiver != plug {
            handle(.withdraw(request))
            answers.removeValue(forKey: request)?.resume(returning: .refused(Self.differentPlug))
        }
        announcedKey.dialling(stored: nextKey)
        handle(.dialling(plug))
    }

    private static let differentPlug = Refusal(
        .deadlinePassed, "the plug is away, and a different plug is announced under its name")

    // MARK: What the connection reports

    public func opened(_ connection: Connection) {
        // Two addresses may have answered at the same moment: the first is used.
        guard self.connection == nil else { return connection.close() }
        self.connection = connection
        // A reader that is behind gets nothing more from a new connection either.
        if !isReading { connection.setReading(false) }
        announcedKey.opened()
        handle(.opened(connection.id))
    }

    public func received(_ bytes: [UInt8], on id: ConnectionID) {
        PlugInHand.during(machine.expected) { handle(.received(bytes, on: id)) }
    }

    /// A controller sends too little to fill a buffer.
    public func writable(_ isWritable: Bool, on id: ConnectionID) {}

    public func closed(_ id: ConnectionID) {
        if connection?.id == id { connection = nil }
        handle(.closed(id))
    }

    // MARK: The machine

    package func handle(_ event: PlugFollower.Event) {
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now)) { perform($0) }
        handOver()
        // The timer holds the plug: whoever reads the reports need hold nothing else while it waits to connect again.
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
        case .send(let bytes, let id):
            if connection?.id == id { connection?.send(bytes) }
        case .close(let id):
            if connection?.id == id {
                connection?.close()
                // What it still reports while it goes away is of no use to the next one.
                connection = nil
            }
        case .deliver(let update): deliver(update)
        case .finished(let id, let outcome): answers.removeValue(forKey: id)?.resume(returning: outcome)
        case .samples(let id, let chunk, let clock, let last):
            do {
                if try fetches[id]?.take(chunk, of: clock, last: last) == true { finish(fetch: id) }
            } catch {
                finish(fetch: id, error)
            }
        case .controllers(let list): answerQuestion(.controllers(list))
        case .invited(let time): answerQuestion(.invited(for: time))
        case .invitations(let list): answerQuestion(.invitations(list))
        case .codeChanged: answerQuestion(.codeChanged)
        case .homeKit(let status): answerQuestion(.homeKit(status))
        case .keyAccepted: answerQuestion(.keyAccepted)
        case .nextKey(let key): announced(key)
        case .requestRefused(let request, let refusal): refused(request, refusal)
        case .audit(let answer): answerAudit(answer)
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
            provenID.withLock { $0 = plug.id }
            if let key = connection?.peerKey { proved(key, by: plug.id) }
            welcomed(as: plug.name, given: plug.givenName)
        case .disconnected(let reason, _):
            endQuestions()
            answerAudit(.failure(Refusal(.unknown, "the connection ended before the plug answered")))
            answerResets(reason)
        case .following, .snapshot, .state, .event, .gap, .log: break
        }
        let at = times.time(of: update, clock: machine.clock, now: BootClock.now, wall: WallTime.now)
        undelivered.append(PlugReport(plug: name, at: at, update: update, source: machine.expected))
    }

    /// All at once to the reader, who is woken once.
    private func handOver() {
        guard !undelivered.isEmpty else { return }
        let reports = undelivered
        undelivered.removeAll(keepingCapacity: true)
        if !source.yield(reports) { setReading(false) }
    }

    private func setReading(_ reads: Bool) {
        guard reads != isReading else { return }
        isReading = reads
        connection?.setReading(reads)
        handle(.reading(reads))
    }

    nonisolated func readerWantsMore() {
        eventLoop.execute { self.assumeIsolated { $0.setReading(true) } }
    }

    nonisolated func readerIsGone() {
        eventLoop.execute { self.assumeIsolated { $0.stop() } }
    }
}

extension WallTime {
    /// On a clock that stood at zero when the wall clock showed `origin`.
    fileprivate func instant(since origin: WallTime) -> Instant {
        let (elapsed, overflow) = nanosecondsSince1970.subtractingReportingOverflow(origin.nanosecondsSince1970)
        guard overflow else { return Instant(nanoseconds: elapsed) }
        return Instant(nanoseconds: self < origin ? .min : .max)
    }
}
