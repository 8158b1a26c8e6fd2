import LinuxNetwork
import NIOCore
public import PlugProtocol
public import PlugTransport
import ProtocolCore

/// A plug that is being followed: the shell of ``PlugFollower``.
///
/// ```swift
/// let plug = client.follow("Living Room Lamp")
/// for await report in plug.reports { print(report.update) }
/// ```
///
/// Read ``reports`` to its end or stop: while nobody reads, nothing more is taken from the network.
public actor FollowedPlug: ConnectionOwner {
    public nonisolated let name: String
    public nonisolated let reports: PlugReports
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop
    private let connect: @Sendable (FollowedPlug) async throws -> Void
    private let source: PlugReports.Source
    private var machine: PlugFollower
    private var timer = DeadlineTimer()
    private let actions = ActionQueue<PlugFollower.Action>()
    private var connection: Connection?
    private var clock: ClockMapping?
    private var answers: [RequestID: CheckedContinuation<CommandOutcome, Never>] = [:]
    private var random = SystemRandomNumberGenerator()
    private var watchingPlace: Task<Void, Never>?

    init(
        name: String, machine: PlugFollower, eventLoop: any EventLoop,
        connect: @escaping @Sendable (FollowedPlug) async throws -> Void
    ) {
        self.name = name
        self.machine = machine
        self.eventLoop = eventLoop
        self.connect = connect
        executor = eventLoop.executor
        (reports, source) = PlugReports.make()
        source.attach(to: self)
    }

    /// Resolves, connects and goes on doing so until ``stop()``. Call it again when the plug was announced anew.
    public func locate() { handle(.located) }

    /// Does so at once whenever the plug turns out to be at another place: it restarted, or the network came back. The next
    /// attempt might be half a minute away.
    func locate(on resolutions: AsyncStream<Resolution>) {
        if case .stopped = machine.state { return }
        watchingPlace = Task { [weak self] in
            for await case .resolved in resolutions { await self?.locate() }
        }
    }

    /// Sends the command, on this connection or the next, until the plug has answered or the task is cancelled.
    ///
    /// - Throws: ``Refusal`` when the plug refused, `CancellationError` when the caller gave up.
    /// - Returns: the state that resulted, and the number of the event that records it if something changed.
    @discardableResult
    public func send(
        _ command: PlugCommand, id: RequestID? = nil
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        let id = id ?? RequestID(drawnFrom: &random)
        guard answers[id] == nil else { throw Refusal(.busy, "this request is waiting for its answer already") }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answers[id] = continuation
                handle(.command(id, command))
            }
        } onCancel: {
            Task { await self.withdraw(id) }
        }
        try Task.checkCancellation()
        switch outcome {
        case .done(let state, let event): return (state, event)
        case .refused(let refusal): throw refusal
        }
    }

    /// Asks for the samples that the plug still has of the last `span`; they come among the reports.
    public func fetchSamples(last span: Duration, fetch: UInt32) {
        guard let clock else { return }
        let now = BootClock.now + (.zero - clock.offset)
        handle(.fetchSamples(fetch: fetch, from: max(now - span, .zero), to: now))
    }

    /// Every event up to this one has taken effect here.
    public func acknowledge(_ sequence: SequenceNumber) { handle(.acknowledge(sequence)) }

    /// Says goodbye and ends the reports.
    public func stop() {
        handle(.stop)
        watchingPlace?.cancel()
        timer.stop()
        connection?.close()
        source.finish()
        for (_, answer) in answers {
            answer.resume(returning: .refused(Refusal(.unknown, "stopped following the plug before it answered")))
        }
        answers = [:]
    }

    private func withdraw(_ id: RequestID) {
        handle(.withdraw(id))
        answers.removeValue(forKey: id)?.resume(returning: .refused(Refusal(.unknown, "given up")))
    }

    // MARK: What the connection reports

    public func opened(_ connection: Connection) {
        // Two addresses may have answered at the same moment: the first is used.
        guard self.connection == nil else { return connection.close() }
        self.connection = connection
        handle(.opened(connection.id))
    }

    public func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(bytes, on: id)) }

    /// A controller sends too little to fill a buffer.
    public func writable(_ isWritable: Bool, on id: ConnectionID) {}

    public func closed(_ id: ConnectionID) {
        if connection?.id == id { connection = nil }
        handle(.closed(id))
    }

    // MARK: The machine

    private func handle(_ event: PlugFollower.Event) {
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now)) { perform($0, now: now) }
        // The timer holds the plug: whoever reads the reports need hold nothing else while it waits to connect again.
        timer.follow(machine.nextDeadline, now: now, on: eventLoop) {
            self.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: PlugFollower.Action, now: Instant) {
        switch action {
        case .connect:
            Task {
                do {
                    try await connect(self)
                } catch {
                    handle(.failed(reason: "\(error)"))
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
        case .deliver(let update):
            deliver(update, now: now)
        }
    }

    private func deliver(_ update: PlugUpdate, now: Instant) {
        if case .connected(let description) = update { clock = description.clock }
        if case .commandFinished(let id, let outcome) = update {
            answers.removeValue(forKey: id)?.resume(returning: outcome)
        }
        let report = PlugReport(plug: name, at: wallTime(of: update, now: now), update: update)
        if !source.yield(report) { connection?.setReading(false) }
    }

    nonisolated func readerWantsMore() {
        eventLoop.execute { self.assumeIsolated { $0.connection?.setReading(true) } }
    }

    nonisolated func readerIsGone() {
        eventLoop.execute { self.assumeIsolated { $0.stop() } }
    }

    /// When it happened: an event by its age, a reading by the plug's clock, the rest now.
    private func wallTime(of update: PlugUpdate, now: Instant) -> WallTime {
        switch update {
        case .event(_, let age): WallTime.now - (age ?? .zero)
        case .state(let state), .snapshot(let state):
            if let time = state.reading?.time, let clock {
                WallTime.now - max(.zero, now - clock.instant(ofPlugTime: time))
            } else {
                WallTime.now
            }
        case .connected, .gap, .commandFinished, .samples, .disconnected: WallTime.now
        }
    }
}
