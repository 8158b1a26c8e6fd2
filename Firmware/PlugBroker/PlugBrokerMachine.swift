import JSONText
public import LinuxSystem
public import PlugModel
public import PlugProtocol
public import PlugTopics
public import ProtocolCore

/// Connects one plug to an MQTT broker: publishes its journal and state, and handles requests.
/// `Documentation/reference/mqtt.md` is the contract.
///
/// ``BrokerMachine`` handles the connection, the requests and the messages. This machine adds the plug, whose journal
/// is the queue of events to publish. A state is published immediately when the relay, the level or the lock changes,
/// and at most once per second if only measurements change.
public struct PlugBrokerMachine: Machine, Sendable {
    /// The plug's current state.
    public struct Glance: Equatable, Sendable {
        /// The state of relay, dimmer and meter.
        public var state: PlugState
        /// The name, firmware, capabilities and networks of the plug.
        public var portrait: PlugPortrait
        /// The number of the newest event.
        public var newest: SequenceNumber

        /// Creates a state.
        public init(state: PlugState, portrait: PlugPortrait, newest: SequenceNumber) {
            self.state = state
            self.portrait = portrait
            self.newest = newest
        }
    }

    /// The inputs of the machine. `wall` is the civil time of the event's `now`, or nil if the plug's clock is not set.
    public enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event.
        case started
        /// The plug's state may have changed.
        case looked(Glance, wall: WallTime?)
        /// The answer to ``Action/read(after:limit:)``.
        case page(JournalPage, wall: WallTime?)
        /// The answer to ``Action/readFor(_:after:limit:)``.
        case replay(BrokerTicket, JournalPage, wall: WallTime?)
        /// The answer to ``Action/ask(_:)``.
        case answered(BrokerTicket, CommandOutcome)
        /// The broker accepted the connection.
        case connected
        /// The connection ended or could not be opened.
        case disconnected(reason: String)
        /// The broker acknowledged a publication, or refused it for this reason.
        case acknowledged(BrokerTicket, refusal: String?)
        /// A message of a subscribed topic arrived.
        case received(BrokerMessage)
        /// The plug stops.
        case stopping
        /// The time of ``PlugBrokerMachine/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Connects to the server with this index in the settings.
        case connect(server: Int)
        /// Closes the connection.
        case disconnect
        /// Subscribes to these topics.
        case subscribe([String])
        /// Publishes a message; answered with ``Event/acknowledged(_:refusal:)``.
        case publish(BrokerTicket, Publication)
        /// Reports a notice for the log.
        case tell(BrokerNotice)
        /// Reads the journal. The answer must come immediately.
        case read(after: SequenceNumber, limit: Int)
        /// Reads the journal for the replay with this ticket. The answer must come immediately.
        case readFor(BrokerTicket, after: SequenceNumber, limit: Int)
        /// Stores that the broker has acknowledged, or does not need, every event up to this one.
        case keep(SequenceNumber)
        /// Performs a command of the broker, and requires an answer.
        case ask(DoorCommand)
    }

    /// The minimum interval between two published readings.
    static let readingInterval = Duration.seconds(1)
    /// The limit of messages in the answer to a replay.
    static let replayLimit = 100

    private let plug: PlugID
    private let beginning: SequenceNumber
    private var broker: BrokerMachine
    private var portrait: PlugPortrait?
    private var told: (state: PlugState, at: Instant)?
    /// A reading that waits for the end of the interval.
    private var waiting: (state: PlugState, wall: WallTime?)?

    /// Creates a machine that is not started.
    ///
    /// - Parameters:
    ///   - settings: the configuration; `speaker` is replaced by this plug.
    ///   - beginning: the last event that the broker does not need. Later events are published.
    public init(
        _ plug: PlugID, _ settings: BrokerMachine.Configuration, after beginning: SequenceNumber, seed: UInt64
    ) {
        var settings = settings
        settings.speaker = .plug(plug)
        self.plug = plug
        self.beginning = beginning
        broker = BrokerMachine(settings, after: beginning, newest: beginning, seed: seed)
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        sooner(broker.nextDeadline, waiting == nil ? nil : told.map { $0.at + Self.readingInterval })
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started:
            // The start position is stored first, so that the next process after a crash does not skip events.
            actions.append(.keep(beginning))
            pass(.started, now, &actions)
        case .looked(let glance, let wall): look(glance, wall, now, &actions)
        case .page(let page, let wall):
            let entries = page.entries.map { queued($0, wall, now) }
            pass(.fetched(entries), now, &actions)
        case .replay(let ticket, let page, let wall):
            let messages = page.entries.map { queued($0, wall, now).payload }
            pass(.replayed(ticket, messages, hasMore: page.hasMore), now, &actions)
        case .answered(let ticket, let outcome): pass(.answered(ticket, outcome), now, &actions)
        case .connected: pass(.connected, now, &actions)
        case .disconnected(let reason): pass(.disconnected(reason: reason), now, &actions)
        case .acknowledged(let ticket, let refusal): pass(.acknowledged(ticket, refusal: refusal), now, &actions)
        case .received(let message): pass(.received(message), now, &actions)
        case .stopping: pass(.stopping, now, &actions)
        case .deadlineReached:
            if let next = broker.nextDeadline, next <= now { pass(.deadlineReached, now, &actions) }
            if let reading = waiting, isDue(now) { tell(reading.state, reading.wall, now, &actions) }
        }
        return actions
    }

    private mutating func pass(_ event: BrokerMachine.Event, _ now: Instant, _ actions: inout [Action]) {
        for action in broker.handle(event, now: now) {
            switch action {
            case .connect(let server): actions.append(.connect(server: server))
            case .disconnect: actions.append(.disconnect)
            case .subscribe(let filters): actions.append(.subscribe(filters))
            case .publish(let ticket, let publication): actions.append(.publish(ticket, publication))
            case .tell(let notice): actions.append(.tell(notice))
            case .fetch(let position, let limit): actions.append(.read(after: position, limit: limit))
            case .replay(let ticket, _, let sequence):
                actions.append(.readFor(ticket, after: sequence, limit: Self.replayLimit))
            case .keep(let position): actions.append(.keep(position))
            case .command(let ticket, _, let command, let id, let time):
                actions.append(.ask(DoorCommand(command, id, through: .broker, ticket: ticket, within: time)))
            // The only plug is never removed, and a plug does not search for new systems.
            case .remember, .forget, .update: break
            }
        }
    }

    // MARK: The plug

    private mutating func look(_ glance: Glance, _ wall: WallTime?, _ now: Instant, _ actions: inout [Action]) {
        if glance.portrait != portrait {
            portrait = glance.portrait
            pass(.met(plug, glance.portrait), now, &actions)
        }
        if let last = waiting?.state ?? told?.state, last == glance.state {
            // The state is already published or waits to be published.
        } else if isDue(now) || told.map({ !$0.state.isSame(but: glance.state) }) ?? true {
            tell(glance.state, wall, now, &actions)
        } else {
            waiting = (glance.state, wall)
        }
        pass(.grown(to: glance.newest), now, &actions)
    }

    private func isDue(_ now: Instant) -> Bool { told.map { now >= $0.at + Self.readingInterval } ?? true }

    private mutating func tell(_ state: PlugState, _ wall: WallTime?, _ now: Instant, _ actions: inout [Action]) {
        (told, waiting) = ((state, now), nil)
        pass(.state(plug, state, at: wall?.iso8601()), now, &actions)
    }

    /// Converts a journal entry for the broker. All entries are from this boot.
    private func queued(_ entry: JournalPage.Entry, _ wall: WallTime?, _ now: Instant) -> QueuedEvent {
        switch entry {
        case .event(let event):
            let age = max(.zero, now - event.time)
            let message = JSONObject(event, of: plug, at: wall.map { ($0 - age).iso8601() }, age: age.inSeconds)
            return QueuedEvent(
                position: event.sequence, plug: plug, sequence: event.sequence, payload: message.text)
        case .gap(let gap):
            let message = JSONObject(gap, of: plug, at: wall?.iso8601())
            return QueuedEvent(
                position: gap.to, since: gap.from, plug: plug, sequence: gap.to, payload: message.text)
        }
    }
}

extension PlugState {
    /// Returns true if only measurements differ.
    fileprivate func isSame(but other: PlugState) -> Bool {
        relayOn == other.relayOn && level == other.level && tripped == other.tripped
    }
}
