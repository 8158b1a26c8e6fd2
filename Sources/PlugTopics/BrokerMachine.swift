import JSONText
public import PlugModel
public import ProtocolCore

/// Connects a house, or one plug, to an MQTT broker. Requests become commands and are answered; reports of plugs become
/// messages. `Documentation/reference/mqtt.md` specifies the topics and messages.
///
/// A waiting retained message is replaced by a newer one for its topic. Events wait in a journal of the shell, and
/// count as delivered when the broker acknowledged them (QoS 1). The broker may therefore be away for as long as the
/// journal has room.
public struct BrokerMachine: Machine, Sendable {
    /// An event of the connection, of the house, or of the journal.
    public enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event.
        case started
        /// The answer to ``Action/connect(server:)`` after success.
        case connected
        /// The answer to ``Action/connect(server:)`` after a failure, or the end of a connection.
        case disconnected(reason: String)
        /// The connection ended because another connection took its session over. Two programs with one identity would
        /// take the session over repeatedly, so this program waits for ten minutes.
        case takenOver
        /// The broker acknowledged a message, or rejected it with a reason.
        case acknowledged(BrokerTicket, refusal: String?)
        case received(BrokerMessage)
        /// A session with a plug began. The portrait describes the plug.
        case met(PlugID, PlugPortrait)
        /// The state of a plug. `at` is its time in ISO 8601, UTC; nil if it is unknown.
        case state(PlugID, PlugState, at: String?)
        /// The system of a plug, and the version of the newest one that the plug can be updated to, if it is known.
        case system(PlugID, UpdateReport, available: String?)
        /// A plug is not reachable.
        case away(PlugID)
        /// The plugs of the house. The retained messages of all other plugs are removed from the broker.
        case paired(Set<PlugID>)
        /// The journal has a new event.
        case happened(QueuedEvent)
        /// The journal has new events up to this position, which the machine fetches.
        case grown(to: QueuedEvent.Position)
        /// The answer to ``Action/fetch(after:limit:)``. The list is empty if the journal has no later events.
        case fetched([QueuedEvent])
        /// The answer to ``Action/command(_:_:_:id:within:)``.
        case answered(BrokerTicket, CommandOutcome)
        /// The answer to ``Action/update(_:_:)``: nil if the update was requested.
        case updateAnswered(BrokerTicket, Refusal?)
        /// The answer to ``Action/replay(_:_:after:)``: messages in order, and true if more follow.
        case replayed(BrokerTicket, [String], hasMore: Bool)
        case stopping
        case deadlineReached
    }

    /// An action for the shell.
    public enum Action: Hashable, Sendable {
        /// Connects to the server with this index in the list.
        case connect(server: Int)
        /// Ends the connection; `disconnected` answers it.
        case disconnect
        /// Subscribes to these topic filters.
        case subscribe([String])
        /// Publishes a message; ``Event/acknowledged(_:refusal:)`` answers it.
        case publish(BrokerTicket, Publication)
        /// Reads events of the journal; ``Event/fetched(_:)`` answers it.
        case fetch(after: QueuedEvent.Position, limit: Int)
        /// Stores that the broker has every event up to this position.
        case keep(QueuedEvent.Position)
        /// Sends a command to a plug; ``Event/answered(_:_:)`` answers it.
        case command(BrokerTicket, PlugID, PlugCommand, id: RequestID, within: Duration)
        /// Updates a plug to its newest system; ``Event/updateAnswered(_:_:)`` answers it.
        case update(BrokerTicket, PlugID)
        /// Reads past events of a plug; ``Event/replayed(_:_:hasMore:)`` answers it.
        case replay(BrokerTicket, PlugID, after: SequenceNumber)
        /// Stores that the broker has, or will have, messages of this plug, so that they can be removed after a
        /// restart.
        case remember(PlugID)
        /// Stores that the broker has no messages of this plug.
        case forget(PlugID)
        /// Reports a notice to the user.
        case tell(BrokerNotice)
    }

    private enum Link: Sendable {
        case idle(until: Instant?)
        case connecting
        case connected
        /// The connection is being closed.
        case ending
    }

    private enum Sent: Sendable {
        case house
        case retained(RetainedDesk.Key)
        case event(QueuedEvent.Position)
        case answer
    }

    /// The limit of unacknowledged messages, which bounds the memory if the broker is slow.
    private static let flightLimit = 128
    /// The time without an acknowledgement, while a message waits for one, after which the connection is closed.
    static let patience = Duration.seconds(20)
    /// The delay between a plug's availability and its first event. Home Assistant loses a press that immediately
    /// follows the first availability.
    static let settling = Duration.milliseconds(500)
    /// The time in which changes are combined into one retained message. Events of the same moment are sent first.
    static let gathering = Duration.milliseconds(20)
    /// The delay before messages that the broker rejected are sent again.
    private static let pause = Duration.seconds(5)
    private static let refusalNotices = Duration.seconds(60)

    private let configuration: Configuration
    private var random: SeededRandom
    private var link = Link.idle(until: nil)
    private var reconnection: Reconnection
    /// True if the availability of the house must be published.
    private var isUnsaid = false
    private var desk = RetainedDesk()
    private var window: EventWindow
    private var requests: RequestBook
    private var portraits: [PlugID: PlugPortrait] = [:]
    private var measured: [PlugID: Set<MeasuredQuantity>] = [:]
    /// The messages of the plugs whose system is known.
    private var systems: [PlugID: String] = [:]
    private var sent: [BrokerTicket: Sent] = [:]
    private var lastTicket: BrokerTicket = 0
    /// The time of the broker's last acknowledgement, or of the first message after all were acknowledged.
    private var heardAt = Instant.zero
    private var pausedUntil: Instant?
    private var hasToldNotTaken = false
    /// The time at which the first delayed event is sent, or nil if no event is delayed.
    private var releasesAt: Instant?
    /// The time at which retained messages are sent; nil if no message waits to be combined.
    private var retainedAt: Instant?
    private var refresh = Refresh()
    private var refusals: (count: UInt64, toldAt: Instant?) = (0, nil)
    private var isStopping = false

    /// Creates a machine that is not connected.
    ///
    /// - Parameters:
    ///   - known: the plugs with messages at the broker.
    ///   - cursor: the broker acknowledged every event up to this position.
    ///   - newest: the last position of the journal.
    public init(
        _ configuration: Configuration, known: Set<PlugID> = [], after cursor: QueuedEvent.Position,
        newest: QueuedEvent.Position, seed: UInt64
    ) {
        self.configuration = configuration
        window = EventWindow(after: cursor, newest: newest)
        var random = SeededRandom(seed: seed)
        requests = RequestBook(
            configuration.tree, takesCommands: configuration.takesCommands,
            updatesSystems: configuration.updatesSystems, random: SeededRandom(seed: random.next()))
        reconnection = Reconnection(servers: configuration.servers, random: SeededRandom(seed: random.next()))
        self.random = random
        // A plug counts as away until its first report.
        for plug in known { _ = desk.want("offline", RetainedDesk.Key(plug: plug, slot: .availability)) }
    }

    public var nextDeadline: Instant? {
        switch link {
        case .idle(let until): return until
        case .connecting, .ending: return nil
        case .connected:
            let patience = sent.isEmpty ? nil : heardAt + Self.patience
            return sooner(sooner(patience, refresh.due), pausedUntil ?? sooner(releasesAt, retainedAt))
        }
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started: connect(&actions)
        case .connected: connected(now, &actions)
        case .disconnected(let reason): disconnected(reason, now, &actions)
        case .takenOver: disconnected(nil, now, &actions)
        case .acknowledged(let ticket, let refusal): acknowledged(ticket, refusal, now, &actions)
        case .received(let message): received(message, now, &actions)
        case .met(let plug, let portrait): met(plug, portrait, &actions)
        case .state(let plug, let state, let at): took(state, of: plug, at: at, now, &actions)
        case .system(let plug, let report, let available): took(report, available, of: plug, &actions)
        case .away(let plug): want("offline", plug, .availability, &actions)
        case .paired(let plugs):
            for plug in desk.known.subtracting(plugs) {
                desk.clear(plug)
                (portraits[plug], measured[plug]) = (nil, nil)
            }
            systems = systems.filter { plugs.contains($0.key) }
        case .happened(let entry): window.happened(entry)
        case .grown(let position): window.grown(to: position)
        case .fetched(let entries):
            let lost = window.fetched(entries)
            if lost > 0 { actions.append(.tell(.left(out: lost))) }
        case .answered(let ticket, let outcome): requests.answered(ticket, outcome)
        case .updateAnswered(let ticket, let refusal): requests.updateAnswered(ticket, refusal)
        case .replayed(let ticket, let messages, let hasMore): requests.replayed(ticket, messages, hasMore: hasMore)
        case .stopping:
            isStopping = true
            link = .ending
            return [.disconnect]
        case .deadlineReached: deadlineReached(now, &actions)
        }
        pump(now, &actions)
        return actions
    }

    // MARK: The connection

    private mutating func connect(_ actions: inout [Action]) {
        guard !isStopping else { return }
        link = .connecting
        actions.append(.connect(server: reconnection.server))
    }

    private mutating func connected(_ now: Instant, _ actions: inout [Action]) {
        guard case .connecting = link else { return }
        link = .connected
        reconnection.connected(now)
        (hasToldNotTaken, pausedUntil, heardAt) = (false, nil, now)
        actions.append(.tell(.connected(server: reconnection.server)))
        actions.append(.subscribe(configuration.filters))
        desk.forgetPublished()
        (isUnsaid, refresh) = (configuration.speaker == .house, Refresh())
    }

    /// Handles the end of a connection, or a failed attempt.
    ///
    /// - Parameter reason: nil if another program took the session over.
    private mutating func disconnected(_ reason: String?, _ now: Instant, _ actions: inout [Action]) {
        let notices: [BrokerNotice]
        switch link {
        case .connected, .ending: notices = reconnection.lost(reason, now)
        case .connecting: notices = reconnection.failed(reason)
        case .idle: return
        }
        sent = [:]
        requests.forgetAnswers()
        window.disconnected(forgets: configuration.speaker != .house)
        guard !isStopping else { return }
        actions += notices.map { .tell($0) }
        link = .idle(until: reconnection.next(isTakenOver: reason == nil, now))
    }

    private mutating func deadlineReached(_ now: Instant, _ actions: inout [Action]) {
        switch link {
        case .idle(let until): if let until, now >= until { connect(&actions) }
        case .connected:
            if let until = pausedUntil, now >= until { pausedUntil = nil }
            if refresh.take(now: now) {
                desk.repeatAll()
                isUnsaid = configuration.speaker == .house
            }
            guard !sent.isEmpty, now >= heardAt + Self.patience else { return }
            link = .ending
            actions.append(.disconnect)
        case .connecting, .ending: break
        }
    }

    // MARK: Reports of plugs

    private mutating func want(_ text: String, _ plug: PlugID, _ slot: RetainedDesk.Slot, _ actions: inout [Action]) {
        if desk.want(text, RetainedDesk.Key(plug: plug, slot: slot)) { actions.append(.remember(plug)) }
    }

    private mutating func met(_ plug: PlugID, _ portrait: PlugPortrait, _ actions: inout [Action]) {
        portraits[plug] = portrait
        describe(plug, &actions)
        want(portrait.message(of: plug).text, plug, .about, &actions)
        if let system = systems[plug] { want(system, plug, .system, &actions) }
        want("online", plug, .availability, &actions)
    }

    private mutating func took(
        _ state: PlugState, of plug: PlugID, at: String?, _ now: Instant, _ actions: inout [Action]
    ) {
        // Reports of a plug that is no longer part of the house are dropped.
        guard portraits[plug] != nil else { return }
        let quantities = MeasuredQuantity.allCases.filter { quantity in
            state.reading.map { quantity.value(in: $0) != nil } ?? false
        }
        if !measured[plug, default: []].isSuperset(of: quantities) {
            measured[plug, default: []].formUnion(quantities)
            describe(plug, &actions)
        }
        want(JSONObject(state, at: at).text, plug, .state, &actions)
        if retainedAt == nil { retainedAt = now + Self.gathering }
    }

    private mutating func took(
        _ report: UpdateReport, _ available: String?, of plug: PlugID, _ actions: inout [Action]
    ) {
        let text = JSONObject(report, available: available).text
        let isNew = systems.updateValue(text, forKey: plug) == nil
        // A plug that is not part of the house yet gets its message with its description.
        guard portraits[plug] != nil else { return }
        if isNew { describe(plug, &actions) }
        want(text, plug, .system, &actions)
    }

    private mutating func describe(_ plug: PlugID, _ actions: inout [Action]) {
        guard let discovery = configuration.discovery, let portrait = portraits[plug] else { return }
        let text = discovery.message(
            of: plug, portrait, measured: measured[plug] ?? [], isUpdatable: systems[plug] != nil,
            in: configuration)
        want(text, plug, .discovery, &actions)
    }

    // MARK: Requests

    private mutating func received(_ message: BrokerMessage, _ now: Instant, _ actions: inout [Action]) {
        guard case .connected = link else { return }
        guard !configuration.isRefresh(message) else { return refresh.ask(now: now, &random) }
        switch requests.handle(message, isKnown: desk.has, now: now) {
        case .begun(let ticket, let plug, .command(let command, let id, let time)):
            actions.append(.command(ticket, plug, command, id: id, within: time))
        case .begun(let ticket, let plug, .update): actions.append(.update(ticket, plug))
        case .begun(let ticket, let plug, .replay(let sequence)):
            actions.append(.replay(ticket, plug, after: sequence))
        case .refused(let refusal):
            refusals.count += 1
            guard refusals.toldAt.map({ now - $0 >= Self.refusalNotices }) ?? true else { return }
            actions.append(.tell(.refused(count: refusals.count, topic: message.topic, reason: refusal.detail)))
            refusals = (0, now)
        case nil: break
        }
    }

    // MARK: Publishing

    private mutating func publish(
        _ publication: Publication, as kind: Sent, _ now: Instant, _ actions: inout [Action]
    ) {
        if sent.isEmpty { heardAt = now }
        lastTicket += 1
        sent[lastTicket] = kind
        actions.append(.publish(lastTicket, publication))
    }

    private mutating func acknowledged(
        _ ticket: BrokerTicket, _ refusal: String?, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let what = sent.removeValue(forKey: ticket) else { return }
        heardAt = now
        if let refusal { return notTaken(what, refusal, now, &actions) }
        hasToldNotTaken = false
        switch what {
        case .house, .answer: break
        case .retained(let key): if desk.taken(key, now: now) { actions.append(.forget(key.plug)) }
        case .event(let position):
            let before = window.cursor
            window.taken(position)
            if window.cursor > before { actions.append(.keep(window.cursor)) }
        }
    }

    private mutating func notTaken(_ what: Sent, _ reason: String, _ now: Instant, _ actions: inout [Action]) {
        let topic: String
        switch what {
        case .house:
            topic = configuration.tree.availability
            isUnsaid = true
        case .answer: return
        case .retained(let key):
            topic = self.topic(of: key)
            desk.notTaken(key)
        case .event(let position):
            topic = "\(configuration.tree.prefix)/\(configuration.tree.house)/+/event"
            window.notTaken(position)
        }
        pausedUntil = now + Self.pause
        guard !hasToldNotTaken else { return }
        hasToldNotTaken = true
        actions.append(.tell(.notTaken(topic: topic, reason: reason)))
    }

    private func topic(of key: RetainedDesk.Key) -> String {
        switch key.slot {
        case .discovery: configuration.discovery?.topic(of: key.plug) ?? ""
        case .about: configuration.tree.topic(.about, of: key.plug)
        case .state: configuration.tree.topic(.state, of: key.plug)
        case .system: configuration.tree.topic(.system, of: key.plug)
        case .availability: configuration.tree.topic(.availability, of: key.plug)
        }
    }

    private mutating func pump(_ now: Instant, _ actions: inout [Action]) {
        guard case .connected = link else { return }
        while sent.count < Self.flightLimit, let answer = requests.takeAnswer() {
            publish(answer, as: .answer, now, &actions)
        }
        guard pausedUntil == nil else { return }
        if isUnsaid {
            isUnsaid = false
            let publication = Publication(configuration.tree.availability, "online", isRetained: true)
            publish(publication, as: .house, now, &actions)
        }
        // Events come before retained messages: otherwise a house of many plugs would send no event while a broker is
        // slow or restarts repeatedly.
        pumpEvents(now, &actions)
        pumpRetained(now, &actions)
        if let (after, limit) = window.fetch() { actions.append(.fetch(after: after, limit: limit)) }
    }

    private mutating func pumpRetained(_ now: Instant, _ actions: inout [Action]) {
        if let at = retainedAt {
            guard now >= at else { return }
            retainedAt = nil
        }
        while sent.count < Self.flightLimit, let (key, text) = desk.takeDue() {
            let topic = topic(of: key)
            if topic.isEmpty {
                // Discovery is disabled, so the message is dropped.
                if desk.taken(key, now: now) { actions.append(.forget(key.plug)) }
                continue
            }
            publish(Publication(topic, text, isRetained: true), as: .retained(key), now, &actions)
        }
    }

    private mutating func pumpEvents(_ now: Instant, _ actions: inout [Action]) {
        var release: Instant?
        while sent.count < Self.flightLimit {
            let next = window.takeNext { plug in
                guard configuration.discovery != nil, desk.isKnown(plug) else { return true }
                guard let at = desk.announced(plug) else { return false }
                guard now < at + Self.settling else { return true }
                release = sooner(release, at + Self.settling)
                return false
            }
            guard let next else { break }
            let topic = configuration.tree.events(of: next.plug)
            publish(
                Publication(topic, next.payload, isRetained: false), as: .event(next.position), now, &actions)
        }
        releasesAt = release
    }
}
