import JSONText
public import LinuxClocks
public import PlugModel
public import PlugProtocol
public import PlugTopics
public import ProtocolCore

/// A plug at an MQTT broker by itself: what its journal and its state become there, and what is asked of it from there.
/// `Documentation/mqtt.md` is the contract.
///
/// The connection, the requests and the messages are ``BrokerMachine``'s. This adds the plug: its journal is the queue, its state is told
/// at once where it switches and once a second where it measures.
public struct PlugBrokerMachine: Machine, Sendable {
    /// The plug as it is now.
    public struct Glance: Equatable, Sendable {
        public var state: PlugState
        public var portrait: PlugPortrait
        /// The number of the newest event.
        public var newest: SequenceNumber

        public init(state: PlugState, portrait: PlugPortrait, newest: SequenceNumber) {
            self.state = state
            self.portrait = portrait
            self.newest = newest
        }
    }

    /// `wall`: the civil time of the event's `now`; nil where nobody has set the plug's clock.
    public enum Event: MachineEvent, Sendable {
        /// First of all events.
        case started
        /// Something of the plug may be otherwise.
        case looked(Glance, wall: WallTime?)
        /// The answer to ``Action/read(after:limit:)``.
        case page(JournalPage, wall: WallTime?)
        /// The answer to ``Action/readFor(_:after:limit:)``.
        case replay(BrokerTicket, JournalPage, wall: WallTime?)
        /// The answer to ``Action/ask(_:)``.
        case answered(BrokerTicket, CommandOutcome)
        /// As of ``BrokerMachine``.
        case connected
        case disconnected(reason: String)
        case acknowledged(BrokerTicket, refusal: String?)
        case received(BrokerMessage)
        case stopping
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        /// As of ``BrokerMachine``.
        case connect(server: Int)
        case disconnect
        case subscribe([String])
        case publish(BrokerTicket, Publication)
        case tell(BrokerNotice)
        /// To be answered at once.
        case read(after: SequenceNumber, limit: Int)
        case readFor(BrokerTicket, after: SequenceNumber, limit: Int)
        /// The broker has every event up to this one, or need not have it.
        case keep(SequenceNumber)
        case ask(DoorCommand)
    }

    /// Between two readings that the broker is told.
    static let readingInterval = Duration.seconds(1)
    /// Messages in the answer to a replay.
    static let replayLimit = 100

    private let plug: PlugID
    private let beginning: SequenceNumber
    private var broker: BrokerMachine
    private var portrait: PlugPortrait?
    private var told: (state: PlugState, at: Instant)?
    /// A reading that came soon after the one before.
    private var waiting: (state: PlugState, wall: WallTime?)?

    /// - Parameters:
    ///   - settings: `speaker` is this plug.
    ///   - beginning: events up to it are not told.
    public init(
        _ plug: PlugID, _ settings: BrokerMachine.Configuration, after beginning: SequenceNumber, seed: UInt64
    ) {
        var settings = settings
        settings.speaker = .plug(plug)
        self.plug = plug
        self.beginning = beginning
        broker = BrokerMachine(settings, after: beginning, newest: beginning, seed: seed)
    }

    public var nextDeadline: Instant? {
        sooner(broker.nextDeadline, waiting == nil ? nil : told.map { $0.at + Self.readingInterval })
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started:
            // A killed process leaves behind where it began, or what happens meanwhile would be passed over.
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
            // There is one plug, and it stays.
            case .remember, .forget: break
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
            // As it was told, or will be.
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

    /// As the broker is told it. What is in the journal is of this boot.
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
    /// The other differs in what is measured, if at all.
    fileprivate func isSame(but other: PlugState) -> Bool {
        relayOn == other.relayOn && level == other.level && tripped == other.tripped
    }
}
