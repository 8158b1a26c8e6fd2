public import Matter
public import MatterSessions
import MatterWire
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// Connects the plug to Matter: commands of controllers become commands of the plug, and state and presses become
/// values and events.
///
/// ``MatterDevice`` handles messages, sessions, commissioning and interactions. This machine adds the plug, which
/// decides whether a command is performed.
public struct MatterDoorMachine: Machine, Sendable {
    /// The plug's current state.
    public struct Glance: Equatable, Sendable {
        /// The state of relay, dimmer and meter.
        public var state: PlugState
        /// The name that the user chose.
        public var name: String
        /// The number of the newest event.
        public var newest: SequenceNumber

        /// Creates a state.
        public init(state: PlugState, name: String, newest: SequenceNumber) {
            (self.state, self.name, self.newest) = (state, name, newest)
        }
    }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event. Without fabrics, the commissioning window opens.
        case started
        /// A datagram was received. `isLocal` is false for a peer in another network, which cannot commission the plug.
        case received([UInt8], from: MatterPeer, isLocal: Bool)
        /// The plug's state may have changed.
        case looked(Glance)
        /// The answer to ``Action/read(after:limit:)``.
        case page(JournalPage)
        /// The answer to ``Action/ask(_:)``.
        case answered(UInt64, CommandOutcome)
        /// The answer to ``Action/store(_:)``.
        case stored(Bool)
        /// A person at the plug or an owner opens the commissioning window for this time; zero closes it.
        case opened(Duration)
        /// An owner removes a fabric, or all fabrics (nil).
        case removed(UInt8?)
        /// The addresses of the network interface, 4 or 16 bytes each.
        case addresses([[UInt8]])
        /// The process ends.
        case stopping
        /// The time of ``MatterDoorMachine/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Sendable {
        /// Sends a datagram.
        case send([UInt8], to: MatterPeer)
        /// Writes the records to flash. Requires an answer.
        case store(MatterRecords)
        /// Performs a command. The answer may come immediately or later, in any order.
        case ask(DoorCommand)
        /// Reads the journal. The answer must come immediately.
        case read(after: SequenceNumber, limit: Int)
        /// Publishes the changed ``MatterDoorMachine/announcements``.
        case announce
        /// Receives the datagrams to these multicast addresses, and no longer those to others.
        case join(Set<[UInt8]>)
        /// Adds an entry to the audit log.
        case note(AuditNote)
        /// Reports a notice for the log.
        case tell(MatterNotice)
        /// Reports that a controller in another network tried to commission the plug.
        case tellDistant(MatterPeer)
    }

    /// The time for which a person at the plug, an owner or the first start opens the commissioning window, the longest
    /// one that Matter allows (Matter 5.4.2.3.1).
    public static let windowTime = PlugWire.longestMatterWindow
    /// The time limit of a command. A controller waits for about ten seconds, and the plug must not act after that.
    static let commandTime = Duration.seconds(9)
    /// The age after which a press is dropped, because a late one would surprise the user.
    static let pressAge = Duration.seconds(5)
    /// The time for which the plug's light blinks after one command, so that a longer identification repeats it.
    static let blinkTime = Duration.seconds(10)
    private static let pageLimit = 16
    /// The limit of unanswered commands, which bounds repeated commands of controllers.
    private static let commandLimit = 64
    /// The time between two reports of distant commissioners, which bounds the audit log's work during a flood.
    private static let distantSpan = Duration.seconds(60)

    private let plug: MatterPlug
    private var device: MatterDevice
    private var random: SeededRandom
    /// The device's number of each command that the plug has not answered; nil for a repeated identification.
    private var tickets: [UInt64: UInt64?] = [:]
    private var lastTicket: UInt64 = 0
    private var seen: Glance?
    /// The state and the name that the device has.
    private var told: (state: PlugState, name: String)?
    private var heard: SequenceNumber?
    /// True or false if a command that the plug has not answered turns the load on or off; nil without such a command.
    private var expectsOn: Bool?
    /// The identification in progress: its end, the next repetition and the controller.
    private var identifying: (until: Instant, next: Instant, member: String?)?
    private var nextDistantReport: Instant?
    /// True while an ``Action/store(_:)`` has no answer.
    public private(set) var isStoring = false

    /// - Parameter seed: the seed of request ids.
    public init(_ plug: MatterPlug, _ device: MatterDevice, seed: UInt64) {
        (self.plug, self.device) = (plug, device)
        random = SeededRandom(seed: seed)
    }

    /// The services to announce.
    public var announcements: [MatterAnnouncement] { device.announcements }
    /// The fabrics with the numbers of their sessions.
    public var fabrics: [MatterFabricSummary] { device.fabrics }
    /// The end of the open commissioning window, and true if a controller opened it with its own passcode.
    public var window: (opensUntil: Instant?, isEnhanced: Bool) { device.window }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { sooner(device.nextDeadline, identifying?.next) }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started:
            pass(.started, now, &actions)
            if device.fabrics.isEmpty { pass(.opened(Self.windowTime), now, &actions) }
        case .received(let bytes, let peer, let isLocal): receive(bytes, peer, isLocal, now, &actions)
        case .looked(let glance): look(glance, now, &actions)
        case .page(let page): hear(page, now, &actions)
        case .answered(let ticket, let outcome): answered(ticket, outcome, now, &actions)
        case .stored(let isStored):
            isStoring = false
            pass(.stored(isStored), now, &actions)
        case .opened(let time): pass(.opened(min(time, Self.windowTime)), now, &actions)
        case .removed(let fabric): pass(.removed(fabric: fabric), now, &actions)
        case .addresses(let addresses): pass(.addresses(addresses), now, &actions)
        case .stopping: pass(.stopping, now, &actions)
        case .deadlineReached:
            identify(now, &actions)
            pass(.deadlineReached, now, &actions)
        }
        return actions
    }

    private mutating func pass(_ event: MatterDevice.Event, _ now: Instant, _ actions: inout [Action]) {
        for action in device.handle(event, now: now) {
            switch action {
            case .send(let bytes, let peer): actions.append(.send(bytes, to: peer))
            case .ask(let number, let command, let member): perform(command, number, member, now, &actions)
            case .store(let records):
                isStoring = true
                actions.append(.store(records))
            case .announce: actions.append(.announce)
            case .join(let addresses): actions.append(.join(addresses))
            case .notice(let notice): handle(notice, &actions)
            }
        }
    }

    // MARK: Datagrams

    private mutating func receive(
        _ bytes: [UInt8], _ peer: MatterPeer, _ isLocal: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        guard isLocal || !Self.beginsCommissioning(bytes) else { return reportDistant(peer, now, &actions) }
        pass(.received(bytes, from: peer), now, &actions)
    }

    /// Returns true for a message to a group. Other messages to a multicast address have no effect.
    static func isForGroup(_ bytes: [UInt8]) -> Bool {
        (try? MessageHeader.decode(bytes))?.header.isGroupSession ?? false
    }

    /// Returns true for the first message of PASE, which a peer in another network may not send.
    private static func beginsCommissioning(_ bytes: [UInt8]) -> Bool {
        guard let (header, _, rest) = try? MessageHeader.decode(bytes), header.sessionID == 0, !header.isGroupSession,
            let (message, _) = try? ProtocolHeader.decode(rest)
        else { return false }
        return message.protocolID == MatterProtocol.secureChannel
            && message.opcode == SecureChannelOpcode.pbkdfParamRequest.rawValue
    }

    private mutating func reportDistant(_ peer: MatterPeer, _ now: Instant, _ actions: inout [Action]) {
        guard device.window.opensUntil != nil, nextDistantReport.map({ $0 <= now }) ?? true else { return }
        nextDistantReport = now + Self.distantSpan
        actions.append(.tellDistant(peer))
        actions.append(
            .note(
                AuditNote(.pairingFailed, by: .matter, isRefused: true, "the controller is in another network")))
    }

    // MARK: The plug

    private mutating func look(_ glance: Glance, _ now: Instant, _ actions: inout [Action]) {
        guard glance != seen else { return }
        seen = glance
        tell(glance.state, name: glance.name, now, &actions)
        // Presses from before the first reported state are ignored.
        guard let heard else { return self.heard = glance.newest }
        if glance.newest > heard { actions.append(.read(after: heard, limit: Self.pageLimit)) }
    }

    private mutating func tell(_ state: PlugState, name: String, _ now: Instant, _ actions: inout [Action]) {
        let before = told
        told = (state, name)
        if before?.state != state { pass(.looked(plug.values(state)), now, &actions) }
        if before?.name != name { pass(.renamed(MatterPlug.shortened(name)), now, &actions) }
    }

    private mutating func hear(_ page: JournalPage, _ now: Instant, _ actions: inout [Action]) {
        for entry in page.entries {
            switch entry {
            case .event(let event):
                heard = max(heard ?? 0, event.sequence)
                guard case .buttonPressed(let press) = event.kind, now - event.time < Self.pressAge else { continue }
                pass(.pressed(MatterPlug.press(press), number: event.sequence), now, &actions)
            case .gap(let gap): heard = max(heard ?? 0, gap.to)
            }
        }
        if page.hasMore, let heard { actions.append(.read(after: heard, limit: Self.pageLimit)) }
    }

    // MARK: Commands

    private mutating func perform(
        _ command: NodeCommand, _ number: UInt64, _ member: String?, _ now: Instant, _ actions: inout [Action]
    ) {
        switch plug.reaction(to: command, isOn: expectsOn ?? told?.state.relayOn ?? false) {
        case .perform(let command): ask(command, by: member, for: number, now, &actions)
        case .blink(let time):
            identifying = time > Self.blinkTime ? (now + time, now + Self.blinkTime, member) : nil
            ask(.identify, by: member, for: number, now, &actions)
        case .nothing:
            identifying = nil
            pass(.answered(number, .success), now, &actions)
        case .refuse(let code): pass(.answered(number, code), now, &actions)
        }
    }

    private mutating func identify(_ now: Instant, _ actions: inout [Action]) {
        guard let (until, next, member) = identifying, next <= now else { return }
        identifying = now + Self.blinkTime < until ? (until, now + Self.blinkTime, member) : nil
        guard now < until else { return }
        ask(.identify, by: member, for: nil, now, &actions)
    }

    private mutating func ask(
        _ command: PlugCommand, by member: String?, for number: UInt64?, _ now: Instant, _ actions: inout [Action]
    ) {
        guard tickets.count < Self.commandLimit else {
            if let number { pass(.answered(number, .busy), now, &actions) }
            return
        }
        lastTicket += 1
        tickets.updateValue(number, forKey: lastTicket)
        switch command {
        case .setRelay(let isOn, autoOff: _): expectsOn = isOn
        case .setLevel(let level, transition: _): expectsOn = level != .zero
        case .identify, .resetProtection, .rename, .configure: break
        }
        actions.append(
            .ask(
                DoorCommand(
                    command, RequestID(drawnFrom: &random), through: .matter, by: member, ticket: lastTicket,
                    within: Self.commandTime)))
    }

    private mutating func answered(
        _ ticket: UInt64, _ outcome: CommandOutcome, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let number = tickets.removeValue(forKey: ticket) else { return }
        if tickets.isEmpty { expectsOn = nil }
        switch outcome {
        case .done(let state, event: _):
            // The device has the new state before it answers, so a report after the answer is not out of date.
            if let seen { tell(state, name: seen.name, now, &actions) }
            if let number { pass(.answered(number, .success), now, &actions) }
        case .refused(let refusal):
            if let number { pass(.answered(number, refusal.code.matterStatus), now, &actions) }
        }
    }

    // MARK: Audit log

    private func handle(_ notice: MatterNotice, _ actions: inout [Action]) {
        actions.append(.tell(notice))
        switch notice {
        case .commissioned(let fabric): actions.append(.note(AuditNote(.paired, by: .matter, fabric.noted)))
        case .fabricRemoved(let fabric): actions.append(.note(AuditNote(.removed, by: .matter, fabric.noted)))
        case .fabricUpdated(let fabric): actions.append(.note(AuditNote(.keyRotated, by: .matter, fabric.noted)))
        case .wrongPasscode: actions.append(.note(AuditNote(.pairingFailed, by: .matter, isRefused: true)))
        case .accessControlChanged(let index):
            actions.append(.note(AuditNote(.configured, by: .matter, "access control list of fabric \(index)")))
        case .windowOpened(let time, isEnhanced: true):
            let seconds = time.components.seconds
            actions.append(
                .note(AuditNote(.configured, by: .matter, "commissioning window opened for \(seconds) s")))
        case .windowOpened, .windowClosed, .handshakeFailed, .failSafeArmed, .failSafeExpired, .fabricAdded,
            .sessionEstablished, .subscribed, .subscriptionLost, .notStored, .commandTimedOut:
            break
        }
    }
}

extension MatterFabricSummary {
    /// The fabric in the audit log: `fabric 1 of vendor 0x1349, Home`.
    fileprivate var noted: String {
        let vendor = String(vendor, radix: 16, uppercase: true)
        return "fabric \(index) of vendor 0x\(vendor)" + (label.isEmpty ? "" : ", \(label)")
    }
}
