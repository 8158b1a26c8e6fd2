public import BrokerConfiguration
public import JSONText
import LinuxNetwork
import LinuxSystem
public import Logging
import MQTT
public import NIOCore
import NIOPosix
public import PlugModel
public import PlugProtocol
import PlugTopics
import ProtocolCore

/// The shell of ``PlugBrokerMachine``. libmosquitto and its thread start with the first connection.
public actor PlugBroker {
    /// The calls to the plug, made on the event loop.
    public struct Plug: Sendable {
        /// Returns the journal's entries after an event, up to a limit.
        public var page: @Sendable (_ after: SequenceNumber, _ limit: Int) -> JournalPage
        /// Performs a command from the broker. Its outcome is passed to ``PlugBroker/answered(_:_:)``.
        public var ask: @Sendable (DoorCommand) -> Void
        /// Called when the broker has acknowledged, or does not need, every event up to this one.
        public var took: @Sendable (SequenceNumber) -> Void

        /// Creates the calls.
        public init(
            page: @escaping @Sendable (_ after: SequenceNumber, _ limit: Int) -> JournalPage,
            ask: @escaping @Sendable (DoorCommand) -> Void, took: @escaping @Sendable (SequenceNumber) -> Void
        ) {
            self.page = page
            self.ask = ask
            self.took = took
        }
    }

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// The time that an orderly stop waits for the broker.
    private static let patienceAtEnd = TimeAmount.seconds(2)

    private let id: PlugID
    private let plug: Plug
    private let settings: BrokerSettings
    private let logger: Logger
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private var machine: PlugBrokerMachine
    private let actions = ActionQueue<PlugBrokerMachine.Action>()
    private var timer = DeadlineTimer()
    private var connection: BrokerConnection?
    private var standing = Standing.away(reason: "not tried yet", since: BootClock.now)
    private var newest: SequenceNumber
    private var taken: SequenceNumber
    private var isEnding = false
    private var ended: CheckedContinuation<Void, Never>?

    private enum Standing {
        case connected(server: Int, since: Instant)
        case away(reason: String, since: Instant)
    }

    /// Creates a connection that is not started.
    ///
    /// - Parameter beginning: the last event that the broker does not need. Later events are published.
    public init(
        _ id: PlugID, _ settings: BrokerSettings, after beginning: SequenceNumber, on eventLoop: any EventLoop,
        logger: Logger, asking plug: Plug
    ) {
        self.id = id
        self.settings = settings
        self.plug = plug
        self.eventLoop = eventLoop
        self.logger = logger
        executor = eventLoop.executor
        (newest, taken) = (beginning, beginning)
        var random = SystemRandomNumberGenerator()
        machine = PlugBrokerMachine(
            id,
            BrokerMachine.Configuration(
                tree: settings.tree, speaker: .plug(id), discovery: settings.discovery,
                servers: settings.account.servers.count, takesCommands: settings.takesCommands),
            after: beginning, seed: random.next())
    }

    /// Starts the thread and connects.
    public func start() {
        thread.start()
        handle(.started)
    }

    /// Updates the plug's state, which may have changed.
    public func look(_ state: PlugState, _ identity: PlugServer.Identity, newest: SequenceNumber) {
        self.newest = newest
        let portrait = PlugPortrait(
            name: identity.name, firmware: identity.firmware, capabilities: identity.capabilities,
            networks: identity.networks)
        let glance = PlugBrokerMachine.Glance(state: state, portrait: portrait, newest: newest)
        handle(.looked(glance, wall: SynchronizedClock.now))
    }

    /// Handles the outcome of a command from the broker.
    public func answered(_ ticket: UInt64, _ outcome: CommandOutcome) { handle(.answered(ticket, outcome)) }

    /// Disconnects, and waits up to 2 s for the end of the connection.
    public func stop() async {
        isEnding = true
        timer.stop()
        handle(.stopping)
        if connection != nil {
            eventLoop.scheduleTask(in: Self.patienceAtEnd) { [weak self] in self?.assumeIsolated { $0.hasEnded() } }
            await withCheckedContinuation { ended = $0 }
        }
        // A thread that is still connecting ends when its attempt ends.
        thread.shutdownGracefully { _ in }
    }

    private func hasEnded() {
        ended?.resume()
        ended = nil
    }

    /// The status as JSON: `connected`, the `seconds` since the connection began or ended, the `server` or the `reason`
    /// for a missing connection, the number of `waiting` events, and whether the plug's clock is set.
    public var status: JSONObject {
        var status = JSONObject()
        let since: Instant
        switch standing {
        case .connected(let server, let start):
            status.add("connected", true)
            status.add("server", settings.account.servers[server].text)
            since = start
        case .away(let reason, let start):
            status.add("connected", false)
            status.add("reason", reason)
            since = start
        }
        status.add("seconds", (BootClock.now - since).components.seconds)
        status.add("waiting", newest > taken ? newest - taken : 0)
        status.add("clockIsSet", SynchronizedClock.now != nil)
        return status
    }

    // MARK: The machine

    private func handle(_ event: PlugBrokerMachine.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        guard !isEnding else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: PlugBrokerMachine.Action) {
        switch action {
        case .connect(let server): connect(server)
        case .disconnect: connection?.end()
        case .subscribe(let filters): connection?.subscribe(filters)
        case .publish(let ticket, let publication): connection?.publish(ticket, publication)
        case .tell(let notice): tell(notice)
        case .read(let sequence, let limit): handle(.page(plug.page(sequence, limit), wall: SynchronizedClock.now))
        case .readFor(let ticket, let sequence, let limit):
            handle(.replay(ticket, plug.page(sequence, limit), wall: SynchronizedClock.now))
        case .keep(let sequence):
            taken = sequence
            plug.took(sequence)
        case .ask(let command): plug.ask(command)
        }
    }

    private func connect(_ server: Int) {
        do throws(FileError) {
            let options = try settings.options(client: "smartplug-\(id)", for: .plug(id))
            connection = BrokerConnection(settings.account.servers[server], options, on: eventLoop, thread: thread) {
                [weak self] event in
                self?.assumeIsolated { $0.heard(event, from: server) }
            }
        } catch {
            let reason = "\(error)"
            eventLoop.execute { [weak self] in
                self?.assumeIsolated { $0.heard(.ended(reason: reason, isTakenOver: false), from: server) }
            }
        }
    }

    private func heard(_ event: BrokerConnection.Event, from server: Int) {
        switch event {
        case .connected:
            standing = .connected(server: server, since: BootClock.now)
            handle(.connected)
        case .acknowledged(let ticket, let refusal): handle(.acknowledged(ticket, refusal: refusal))
        case .received(var message):
            if SynchronizedClock.now == nil { message.at = nil }
            handle(.received(message))
        case .subscribed: break
        case .notSubscribed:
            let topics = settings.tree.requests(to: id).joined(separator: " and ")
            logger.warning(
                """
                the broker does not allow this plug to receive commands
                hint: allow this plug to read \(topics) in the broker's access rules
                """)
        // The client id is unique to this plug, so only this plug's own next connection can take the session over.
        case .ended(let reason, _):
            connection = nil
            note(reason)
            handle(.disconnected(reason: reason))
            hasEnded()
        }
    }

    /// Stores the latest reason. If the plug was already disconnected, the time at which the disconnection began does
    /// not change.
    private func note(_ reason: String) {
        switch standing {
        case .connected: standing = .away(reason: reason, since: BootClock.now)
        case .away(_, let since): standing = .away(reason: reason, since: since)
        }
    }

    private func tell(_ notice: BrokerNotice) {
        let words = notice.words(settings, in: "[mqtt] of plugd.toml")
        if case .connected = notice { logger.notice("\(words)") } else { logger.warning("\(words)") }
    }
}
