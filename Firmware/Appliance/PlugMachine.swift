internal import DequeModule
public import Metering
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// A whole plug as one value: the appliance, the sessions of its controllers, its journal and its samples.
///
/// What the appliance records gets its number here and goes out in the same step, where flash has a boundary above it already;
/// what a controller commands is carried out in the same step. The shell is left with lines, sockets and files.
public struct PlugMachine: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// First of all events.
        case started
        /// An edge of the button's contact, and when it was: `now` or before, in the order of the edges.
        case buttonEdge(down: Bool, at: Instant)
        case measured(Measurement)
        case meterFailed
        /// Tenths of a degree Celsius; nil: the thermometer failed.
        case temperature(Int16?)
        case opened(PlugServer.Opening)
        case received(ConnectionID, [UInt8])
        case writable(ConnectionID, Bool)
        case closed(ConnectionID)
        /// The service instance name changed.
        case renamed(String)
        /// The plug's network interfaces stand otherwise.
        case networks([PlugNetwork])
        /// The answers to ``Action/reserve(upTo:)``: flash has the boundary, or could not be written.
        case reserved(SequenceNumber)
        case reservationFailed
        /// The answer to ``Action/persist(_:)`` where flash could not be written.
        case persistFailed
        /// The answer to ``Action/keep(_:)`` where flash could not be written.
        case keepFailed
        /// The answers to ``Action/keepSettings(_:)``: flash has them, or could not be written.
        case settingsKept
        case settingsNotKept
        /// The answers to ``Action/keepCode(_:)``: flash has it, or could not be written.
        case codeKept
        case codeNotKept
        /// The answers to ``Action/keepAudit(_:)``: flash has it, or could not be written.
        case auditKept
        case auditNotKept
        /// Lines of the plug's log, and how many before them nobody can tell any more. What is logged while the answer is
        /// performed must not come back here: each line would cause the next.
        case logged([LogLine], lost: UInt64)
        /// A command came through a door; answered by ``Action/answer(_:ticket:_:)``.
        case asked(DoorCommand)
        /// The plug's MQTT broker has every event up to this number.
        case brokerTook(SequenceNumber)
        /// The answer to ``Action/manageHomeKit(_:_:)``.
        case homeKit(ConnectionID, Result<HomeKitReport, Refusal>)
        /// Something happened at a door that belongs into the audit log.
        case noted(AuditNote)
        /// Somebody at the plug's own machine removes the controller of this fingerprint; the last owner stays.
        case removeController(fingerprint: String)
        /// Somebody there gives the plug another setup code; it is ``PlugMachine/codeInWriting`` until flash has answered.
        case changeCode(SetupCode)
        /// The plug has a next key, which is told to its controllers.
        case nextKey(PublicKey)
        /// It has taken the place of the one before.
        case keyTurned
        /// Somebody at the plug's own machine wants it set back to factory state.
        case factoryReset
        /// The answers to ``Action/factoryReset``. After the first the machine is stopped, and another one begins with what
        /// the reset left.
        case resetStands
        case resetFailed
        /// Writes what flash lacks and says Goodbye to all. The last event: no number is used after it.
        case stopping
        case deadlineReached
    }

    /// Performed in order: the parts first, then the mirror, then who is paired, then what is sent, then the rest of flash. So
    /// nothing is told that a killed process would not remember, nobody hears of a removal that a loss of power could undo,
    /// and neither a light nor another answer waits for flash.
    public enum Action: Hashable, Sendable {
        case setRelay(Bool)
        case setDimmer(DimLevel)
        case setLight(Bool)
        /// To be answered, at once or later: by `temperature` where there is a thermometer, then by `measured` or `meterFailed`
        /// where there is a meter. Comes again only after the answer.
        case readMeter
        /// To be in the mirror before any of the actions that follow; at most one in the answer to an event.
        case mirror([MirrorRecord])
        /// Entries of the audit log: to be written to flash, before who is paired, and answered. Nobody waits for it. Comes again
        /// only after the answer, but for the last one.
        case keepAudit(AuditLog.Write)
        /// Who is paired: to be written to flash before any of the actions that follow; answered by `keepFailed` if it fails.
        case keep(PairedControllers)
        case send(ConnectionID, [UInt8])
        /// Do that at the HomeKit door, at once or later: answered by `homeKit`.
        case manageHomeKit(ConnectionID, HomeKitOrder)
        /// How a command ended that came through a door.
        case answer(PlugDoor, ticket: UInt64, CommandOutcome)
        case close(ConnectionID, EndReason)
        /// The pairing window opened or closed: to be announced.
        case pairingWindow(isOpen: Bool)
        /// Somebody follows the log from this level on: all of it is to come by `logged`. Nil: nobody does any more, and what
        /// is logged anyway is enough.
        case logLevel(LogLevel?)
        /// To stand in flash, so that no loss of power undoes it: the plug is set back to factory state. Answered at once, by
        /// `resetStands` or `resetFailed`; nobody hears of it before. The last of the answer to an event, since it may fail.
        case factoryReset(by: AuditActor)
        /// To be announced under this name, or one with a number where that is taken: answered by `renamed`, where it is another
        /// than before.
        case announce(String)
        /// What controllers changed: to be written to flash, and answered. Comes again only after the answer.
        case keepSettings(StoredSettings)
        /// Another setup code: to be written to flash, and answered. Comes again only after the answer.
        case keepCode(SetupCode)
        /// To be written to flash; answered by `persistFailed` if it fails.
        case persist(StoredState)
        /// Event numbers below this are used before the next such action: to be written to flash, and answered.
        case reserve(upTo: SequenceNumber)
    }

    var appliance: ApplianceMachine
    var server: PlugServer
    var samples: SampleStore
    var numbers: ReservedNumbers
    /// What waits for a number, oldest first.
    var waiting: Deque<Waiting>
    var random: SeededRandom
    /// What controllers changed, as flash has it.
    public internal(set) var settings: StoredSettings
    var changes = SettingsChanges()
    /// Nil: nobody asked for one.
    var audit: AuditLog?
    /// Who asked last for a factory reset.
    var resetBy = AuditActor.unknown
    /// Nil: the plug never had an MQTT broker.
    var brokerCursor: SequenceNumber?
    /// When the list of controllers is written again that flash did not take.
    var keepsAgainAt: Instant?
    private var network: Surroundings.Network?
    private var surroundings: Surroundings?
    private var life: Life
    /// The state as the mirror has it.
    private var mirrored: MirroredState?
    /// What waits for ``finish(now:)``.
    private var begun: Begun?

    private enum Life: Sendable {
        case new(ApplianceMemory)
        case running
        case stopped
    }

    private struct Begun: Sendable {
        var event: Event
        /// What the appliance made of it.
        var answers: [ApplianceMachine.Action]
    }

    private struct MirroredState: Equatable {
        var relayOn: Bool
        var level: DimLevel
        var tripped: Protection?
        var timers: ApplianceMemory.Timers
    }

    /// A flash that is full or broken is not tried all the time.
    static let keepRetry = Duration.seconds(300)

    /// - Parameters:
    ///   - access: who may command the plug, as flash has it.
    ///   - memory: what mirror and flash still have of the life before.
    ///   - settings: what controllers changed, as flash has it; `identity` has the name already.
    ///   - audit: as flash has it; nil: the plug keeps none.
    ///   - seed: of the numbers to which a plug leaps that cannot rely on its flash: another one at every start.
    public init(
        _ configuration: ApplianceConfiguration, identity: PlugServer.Identity, access: PlugServer.Access,
        memory: PlugMemory = PlugMemory(), settings: StoredSettings = StoredSettings(),
        audit: AuditLog? = nil, limits: PlugServer.Limits = PlugServer.Limits(), seed: UInt64 = 0
    ) {
        appliance = ApplianceMachine(configuration)
        appliance.configure(settings)
        self.settings = settings
        self.audit = audit
        var identity = identity
        if identity.capabilities.contains(.settings) { identity.settings = appliance.configuration.remoteSettings }
        server = PlugServer(
            identity: identity, access: access, journal: memory.journal, requests: memory.requests,
            state: appliance.state, limits: limits)
        samples = memory.samples
        numbers = memory.numbers
        waiting = Deque(memory.unnumbered.map { .event($0) })
        brokerCursor = memory.brokerCursor
        random = SeededRandom(seed: seed)
        life = .new(memory.appliance)
    }

    public var state: PlugState { appliance.state }
    /// What the light shows.
    public var light: LightPattern { appliance.light }
    /// It takes nothing any more: it was stopped, or set back to factory state.
    public var isStopped: Bool { if case .stopped = life { true } else { false } }
    public var connections: [PlugServer.Connection] { server.connections }
    public var identity: PlugServer.Identity { server.identity }
    /// Who may command the plug, and by which code others get to.
    public var access: PlugServer.Access { server.access }
    /// What flash has not taken yet.
    public var codeInWriting: SetupCode? { server.codeInWriting }
    /// Sessions that ended because what arrived was no message of ours.
    public var malformedSessions: UInt64 { server.malformedCount }
    /// The number of the next event.
    public var nextSequence: SequenceNumber { server.journal.nextSequence }

    /// What the plug knows now: what the mirror holds once all actions so far have been performed.
    public var memory: PlugMemory {
        var memory = PlugMemory(
            journal: server.journal, appliance: ApplianceMemory(appliance.storedState, powerLost: false))
        memory.requests = server.finishedRequests
        memory.samples = samples
        memory.appliance.timers = appliance.timers
        memory.numbers = numbers
        memory.unnumbered = unnumbered
        memory.brokerCursor = brokerCursor
        return memory
    }

    /// Kept, since to ask a machine for what is computed copies all of it.
    public private(set) var nextDeadline: Instant?

    private var soonest: Instant? {
        switch life {
        case .new, .stopped: nil
        case .running:
            sooner(
                sooner(appliance.nextDeadline, server.nextDeadline),
                sooner(
                    numbers.nextDeadline(isAwaited: !waiting.isEmpty), sooner(keepsAgainAt, audit?.nextDeadline)))
        }
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        let parts = begin(event, now: now)
        return parts + finish(now: now)
    }

    /// The first half of ``handle(_:now:)``: what the parts do. Numbers, records and bytes for others cost more time than the
    /// whole way from the button to the relay, and come with ``finish(now:)``.
    /// - Precondition: nothing else begun waits to be finished.
    public mutating func begin(_ event: Event, now: Instant) -> [Action] {
        precondition(begun == nil, "An event is finished before the next one begins.")
        var answers: [ApplianceMachine.Action] = []
        if case .running = life, let told = forAppliance(event, now) { answers = appliance.handle(told, now: now) }
        begun = Begun(event: event, answers: answers)
        return answers.compactMap(\.movesPart)
    }

    /// The second half: everything else that comes of what was begun, at the same time.
    public mutating func finish(now: Instant) -> [Action] {
        guard let begun = begun.take() else { return [] }
        var step = Step()
        for answer in begun.answers { follow(answer, now, &step) }
        switch life {
        case .new(let memory):
            guard case .started = begun.event else { return [] }
            life = .running
            beginAudit(now)
            // Flash was asked before the start, and no command may come again before those of the life before are known.
            endWaiting(byLeaping: true, now, &step)
            self.step(.started(memory), now, &step)
            step.records += server.settleRequests(with: appliance.state).map { .request($0) }
        case .running: take(begun.event, now, &step)
        case .stopped: return []
        }
        // After a stop they are for the next process.
        if !isStopped { endWaiting(now, &step) }
        lookAround(now, &step)
        mirrorState(&step)
        reserve(now, &step)
        writeAudit(now, &step)
        nextDeadline = soonest
        return step.actions
    }

    private mutating func take(_ event: Event, _ now: Instant, _ step: inout Step) {
        switch event {
        case .started: preconditionFailure("A plug starts once.")
        case .buttonEdge, .measured, .meterFailed, .temperature, .persistFailed: break  // The appliance has it.
        case .opened(let opening): serve(.opened(opening), now, &step)
        case .received(let id, let bytes): serve(.received(id, bytes), now, &step)
        case .writable(let id, let isWritable): serve(.writable(id, isWritable), now, &step)
        case .closed(let id): serve(.closed(id), now, &step)
        case .renamed(let name): takeGivenName(announcedAs: name, now, &step)
        case .networks(let networks):
            network = Surroundings.Network(networks)
            serve(.networks(networks), now, &step)
        case .logged(let lines, let lost): serve(.logged(lines, lost: lost), now, &step)
        case .asked(let command): serve(.asked(command), now, &step)
        case .brokerTook(let sequence): brokerTook(sequence, &step)
        case .homeKit(let id, let answer): serve(.homeKit(id, answer), now, &step)
        case .noted(let note): self.note(note.kind, by: note.actor, isRefused: note.isRefused, note.detail, now)
        case .reserved(let boundary): numbers.confirm(boundary, next: nextSequence)
        case .reservationFailed: numbers.fail(now: now)
        case .keepFailed: keepsAgainAt = now + Self.keepRetry
        case .settingsKept: endChange(isKept: true, now, &step)
        case .settingsNotKept: endChange(isKept: false, now, &step)
        case .removeController(let fingerprint): serve(.removeController(fingerprint: fingerprint), now, &step)
        case .changeCode(let code): serve(.changeCode(code), now, &step)
        case .nextKey(let key): serve(.nextKey(key), now, &step)
        case .keyTurned: serve(.keyTurned, now, &step)
        case .codeKept: serve(.codeKept(nil), now, &step)
        case .codeNotKept: serve(.codeKept(.notStored), now, &step)
        case .auditKept: audit?.written()
        case .auditNotKept: audit?.failed(now: now)
        case .factoryReset: askForReset(by: .panel, &step)
        case .resetStands:
            serve(.factoryReset, now, &step)
            life = .stopped
        case .resetFailed:
            noteFailedReset(now)
            serve(.resetFailed, now, &step)
        case .stopping:
            if keepsAgainAt != nil { keep(server.access.controllers, &step) }
            self.step(.stopping, now, &step)
            serve(.stop, now, &step)
            step.audit = audit?.lastWrite(now: now)
            life = .stopped
        case .deadlineReached:
            if let deadline = server.nextDeadline, deadline <= now { serve(.deadlineReached, now, &step) }
            if let deadline = keepsAgainAt, deadline <= now { keep(server.access.controllers, &step) }
        }
    }

    /// What the appliance takes before all else.
    private func forAppliance(_ event: Event, _ now: Instant) -> ApplianceMachine.Event? {
        switch event {
        case .buttonEdge(let down, let time): .buttonEdge(down: down, at: time)
        case .measured(let measurement): .measured(measurement)
        case .meterFailed: .meterFailed
        case .temperature(let decidegrees): .temperature(decidegrees)
        case .persistFailed: .persistFailed
        case .deadlineReached: appliance.nextDeadline.flatMap { $0 <= now ? .deadlineReached : nil }
        case .started, .opened, .received, .writable, .closed, .renamed, .networks, .reserved, .reservationFailed,
            .keepFailed, .settingsKept, .settingsNotKept, .removeController, .changeCode, .codeKept, .codeNotKept,
            .nextKey, .keyTurned, .auditKept, .auditNotKept, .factoryReset, .resetStands, .resetFailed, .logged,
            .asked, .brokerTook, .homeKit, .noted, .stopping:
            nil
        }
    }

    mutating func step(_ event: ApplianceMachine.Event, _ now: Instant, _ step: inout Step) {
        let answers = appliance.handle(event, now: now)
        step.parts += answers.compactMap(\.movesPart)
        for answer in answers { follow(answer, now, &step) }
    }

    /// What an answer of the appliance brings about, beside the part that it moves.
    private mutating func follow(_ answer: ApplianceMachine.Action, _ now: Instant, _ step: inout Step) {
        switch answer {
        case .setRelay, .setDimmer, .setLight, .readMeter: break
        case .persist(let state): step.flash.append(.persist(state))
        case .openPairing: serve(.openPairing, now, &step)
        case .factoryReset: askForReset(by: .button, &step)
        case .record(let kind): record(kind, now, &step)
        case .stateChanged(let state): serve(.stateChanged(state), now, &step)
        case .commandDone(let request, let answer): self.answer(request, answer, now, &step)
        case .sample(let sample):
            // A firmware that is back within the millisecond measures it again; who fetches goes on after it.
            guard samples.lastMilliseconds.map({ $0 < sample.milliseconds }) ?? true else { return }
            samples.append(sample)
            step.records.append(.sample(sample, milliwattHours: appliance.storedState.milliwattHours))
        }
    }

    /// Energy goes with the samples; the rest of the state when it changes.
    private mutating func mirrorState(_ step: inout Step) {
        let state = appliance.storedState
        let new = MirroredState(
            relayOn: state.relayOn, level: state.level, tripped: state.tripped, timers: appliance.timers)
        guard new != mirrored else { return }
        mirrored = new
        step.records.append(.state(state, new.timers))
    }

    /// Tells the appliance what its light shows of the sessions and the network.
    private mutating func lookAround(_ now: Instant, _ step: inout Step) {
        let new = Surroundings(
            isPaired: !server.access.controllers.all.isEmpty, isPairingOpen: server.access.isOpen(at: now),
            network: network, isConnected: server.isFollowed)
        guard new != surroundings, !isStopped else { return }
        surroundings = new
        self.step(.surroundings(new), now, &step)
    }

    private mutating func reserve(_ now: Instant, _ step: inout Step) {
        let next = nextSequence + SequenceNumber(waiting.isEmpty ? 0 : unnumbered.count)
        let boundary: SequenceNumber? =
            switch life {
            case .new, .running: numbers.request(next: next, now: now)
            case .stopped: numbers.finalRequest(next: next)
            }
        if let boundary { step.flash.append(.reserve(upTo: boundary)) }
    }
}
