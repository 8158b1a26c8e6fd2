public import HomeKit
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// Connects the plug to HomeKit: writes of controllers become commands, and state and presses become values.
///
/// ``HomeKitServer`` handles sessions, pairing and events. This machine adds the plug, which decides whether a command
/// is performed.
public struct HomeKitDoorMachine: Machine, Sendable {
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
        /// Starts the machine. This is the first event.
        case started
        /// The plug's state may have changed.
        case looked(Glance)
        /// The answer to ``Action/read(after:limit:)``.
        case page(JournalPage)
        /// The answer to ``Action/ask(_:)``.
        case answered(UInt64, CommandOutcome)
        /// An event of connections or flash.
        case server(HomeKitServer.Event)
        /// The time of ``HomeKitDoorMachine/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends bytes on a connection.
        case send(HomeKitSessionID, [UInt8])
        /// Closes a connection.
        case close(HomeKitSessionID)
        /// A paired controller uses this connection.
        case verified(HomeKitSessionID)
        /// Writes the records to flash. Requires an answer.
        case store(HomeKitRecords)
        /// Performs a command. The answer may come immediately or later, in any order.
        case ask(DoorCommand)
        /// Reads the journal. The answer must come immediately.
        case read(after: SequenceNumber, limit: Int)
        /// Publishes the changed TXT record.
        case announce
        /// Adds an entry to the audit log.
        case note(AuditNote)
        /// Reports a notice for the log.
        case tell(HomeKitNotice)
    }

    /// The time limit of a command. A controller gives up after ten seconds, and the plug must not act after that.
    static let commandTime = Duration.seconds(9)
    /// The age after which a press is dropped, because a late one would surprise the user.
    static let pressAge = Duration.seconds(5)
    private static let pageLimit = 16
    /// The number of digits of a controller's id in causes of events.
    private static let shownDigits = 8
    /// The limit of unanswered commands, which bounds repeated writes of controllers.
    private static let commandLimit = 64

    /// A write whose commands are performed one after the other.
    private struct Write: Sendable {
        var session: HomeKitSessionID
        var member: String
        var waiting: [(key: CharacteristicKey, command: PlugCommand)]
        var outcomes: [CharacteristicKey: HomeKitWriteOutcome] = [:]
        var deadline: Instant
    }

    private let accessory: PlugAccessory
    private var server: HomeKitServer
    private var random: SeededRandom
    private var writes: [HomeKitRequestID: Write] = [:]
    /// The entry of a write for each command; nil for commands without one.
    private var tickets: [UInt64: (request: HomeKitRequestID, key: CharacteristicKey)?] = [:]
    private var lastTicket: UInt64 = 0
    private var seen: Glance?
    /// The state and the name that the server has.
    private var told: (state: PlugState, name: String)?
    private var heard: SequenceNumber?

    /// - Parameter seed: the seed of request ids.
    public init(_ accessory: PlugAccessory, _ server: HomeKitServer, seed: UInt64) {
        (self.accessory, self.server) = (accessory, server)
        random = SeededRandom(seed: seed)
    }

    /// The attributes of the service `_hap._tcp`.
    public var announcement: HomeKitAnnouncement { server.announcement }
    /// The paired controllers.
    public var pairings: [ControllerPairing] { server.pairings }
    /// True while an ``Action/store(_:)`` has no answer.
    public var isStoring: Bool { server.isStoring }
    /// The number of sessions per paired controller.
    public var sessionsOfControllers: [[UInt8]: Int] { server.sessionsOfControllers }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { server.nextDeadline }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started:
            pass(.started, now, &actions)
            pass(.changed(accessory.constants, by: nil), now, &actions)
        case .looked(let glance): look(glance, now, &actions)
        case .page(let page): hear(page, now, &actions)
        case .answered(let ticket, let outcome): answered(ticket, outcome, now, &actions)
        case .server(let event): pass(event, now, &actions)
        case .deadlineReached: pass(.deadlineReached, now, &actions)
        }
        return actions
    }

    private mutating func pass(_ event: HomeKitServer.Event, _ now: Instant, _ actions: inout [Action]) {
        for action in server.handle(event, now: now) {
            switch action {
            case .send(let session, let bytes): actions.append(.send(session, bytes))
            case .close(let session): actions.append(.close(session))
            case .write(let request, let session, let controller, let entries):
                begin(request, session, controller, entries, now, &actions)
            case .store(let records): actions.append(.store(records))
            case .identify: ask(.identify, by: nil, for: nil, within: Self.commandTime, &actions)
            case .pairingsChanged: actions.append(.announce)
            case .notice(let notice): handle(notice, &actions)
            }
        }
    }

    // MARK: The plug

    private mutating func look(_ glance: Glance, _ now: Instant, _ actions: inout [Action]) {
        guard glance != seen else { return }
        seen = glance
        tell(glance.state, name: glance.name, by: nil, now, &actions)
        // Presses from before the first reported state are ignored.
        guard let heard else { return self.heard = glance.newest }
        if glance.newest > heard { actions.append(.read(after: heard, limit: Self.pageLimit)) }
    }

    private mutating func tell(
        _ state: PlugState, name: String, by writer: HomeKitSessionID?, _ now: Instant, _ actions: inout [Action]
    ) {
        if let told, told == (state, name) { return }
        told = (state, name)
        pass(.changed(accessory.values(state, name: name), by: writer), now, &actions)
    }

    private mutating func hear(_ page: JournalPage, _ now: Instant, _ actions: inout [Action]) {
        for entry in page.entries {
            switch entry {
            case .event(let event):
                heard = max(heard ?? 0, event.sequence)
                guard case .buttonPressed(let press) = event.kind, now - event.time < Self.pressAge else { continue }
                pass(.pressed(PlugAccessory.pressKey, PlugAccessory.value(of: press)), now, &actions)
            case .gap(let gap): heard = max(heard ?? 0, gap.to)
            }
        }
        if page.hasMore, let heard { actions.append(.read(after: heard, limit: Self.pageLimit)) }
    }

    // MARK: Writes

    private mutating func begin(
        _ request: HomeKitRequestID, _ session: HomeKitSessionID, _ controller: ControllerIdentity,
        _ entries: [CharacteristicWriteRequest], _ now: Instant, _ actions: inout [Action]
    ) {
        var write = Write(
            session: session, member: String(controller.name.prefix(Self.shownDigits)), waiting: [],
            deadline: now + Self.commandTime)
        for entry in entries {
            guard let command = accessory.command(entry) else {
                write.outcomes[entry.key] = .failed(.readOnly)
                continue
            }
            write.waiting.append((entry.key, command))
        }
        // Applications send On together with Brightness. A dimmer that is switched off must not be switched on again by
        // its level.
        if write.waiting.contains(where: { $0.command == .setRelay(on: false, autoOff: nil) }) {
            write.waiting.removeAll { entry in
                guard case .setLevel = entry.command else { return false }
                write.outcomes[entry.key] = .done
                return true
            }
        }
        writes[request] = write
        proceed(request, now, &actions)
    }

    private mutating func proceed(_ request: HomeKitRequestID, _ now: Instant, _ actions: inout [Action]) {
        guard var write = writes[request] else { return }
        guard !write.waiting.isEmpty else {
            writes[request] = nil
            return pass(.answered(request, write.outcomes), now, &actions)
        }
        let (key, command) = write.waiting.removeFirst()
        writes[request] = write
        let time = max(.zero, write.deadline - now)
        if !ask(command, by: write.member, for: (request, key), within: time, &actions) {
            writes[request]?.outcomes[key] = .failed(.busy)
            proceed(request, now, &actions)
        }
    }

    @discardableResult
    private mutating func ask(
        _ command: PlugCommand, by member: String?, for place: (HomeKitRequestID, CharacteristicKey)?,
        within time: Duration, _ actions: inout [Action]
    ) -> Bool {
        guard tickets.count < Self.commandLimit else { return false }
        lastTicket += 1
        tickets.updateValue(place.map { ($0.0, $0.1) }, forKey: lastTicket)
        actions.append(
            .ask(
                DoorCommand(
                    command, RequestID(drawnFrom: &random), through: .homeKit, by: member, ticket: lastTicket,
                    within: time)))
        return true
    }

    private mutating func answered(
        _ ticket: UInt64, _ outcome: CommandOutcome, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let (request, key) = tickets.removeValue(forKey: ticket) ?? nil, let write = writes[request] else {
            return
        }
        switch outcome {
        case .done(let state, event: _):
            writes[request]?.outcomes[key] = .done
            tell(state, name: seen?.name ?? "", by: write.session, now, &actions)
        case .refused(let refusal): writes[request]?.outcomes[key] = .failed(refusal.code.homeKitStatus)
        }
        proceed(request, now, &actions)
    }

    // MARK: Audit log

    private func handle(_ notice: HomeKitNotice, _ actions: inout [Action]) {
        actions.append(.tell(notice))
        switch notice {
        case .paired(let controller): actions.append(.note(AuditNote(.paired, by: .homeKit, controller)))
        case .added(let controller, let isAdmin):
            actions.append(.note(AuditNote(.paired, by: .homeKit, controller + (isAdmin ? ", administrator" : ""))))
        case .removed(let controller): actions.append(.note(AuditNote(.removed, by: .homeKit, controller)))
        case .wrongCode: actions.append(.note(AuditNote(.pairingFailed, by: .homeKit, isRefused: true)))
        case .verified(let session, _): actions.append(.verified(session))
        case .distantSetupRefused:
            actions.append(
                .note(
                    AuditNote(
                        .pairingFailed, by: .homeKit, isRefused: true, "the controller is in another network")))
        case .closed, .notVerified, .setupRefused, .notStored, .noArithmetic, .impossibleValue, .writeTimedOut: break
        }
    }
}

extension Refusal.Code {
    /// The status of HAP 6.7.1.4, table 6-11.
    fileprivate var homeKitStatus: HomeKitStatus {
        switch self {
        case .notPaired: .insufficientAuthorization
        case .notAllowed: .insufficientPrivileges
        case .protectionTripped, .lockedOn: .notAllowedNow
        case .resting, .busy: .busy
        case .unsupported: .readOnly
        case .outOfRange: .invalidValue
        case .deadlinePassed: .timedOut
        case .storageFailed: .outOfResources
        case .unknown: .unableToCommunicate
        }
    }
}
