internal import DequeModule
import Metering
public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// The state machine of a complete plug: the appliance, the sessions of its controllers, its journal and its samples.
///
/// Events of the appliance are numbered here and sent in the same step if flash has already reserved their numbers.
/// Commands of controllers are carried out in the same step. The shell handles only lines, sockets and files.
public struct PlugMachine: Machine, Sendable {
    /// The inputs of the machine.
    public enum Event: MachineEvent, Sendable {
        /// The plug started. Must be the first event.
        case started
        /// An event for the appliance, which handles it first.
        case appliance(ApplianceMachine.ShellEvent)
        /// An event for the sessions.
        case server(PlugServer.ShellEvent)
        /// The service instance name changed.
        case renamed(String)
        /// The state of the plug's network interfaces changed.
        case networks([PlugNetwork])
        /// The results of mapping the plug's port at its router changed; at most ``Reachability/limit``.
        case reachability([Reachability])
        /// The registration in a domain of a name server changed.
        case registration(DomainRegistration?)
        /// The list of hosts at the sleep proxy changed; at most ``PlugSleeper/limit``.
        case sleepers([PlugSleeper])
        /// Flash stored the boundary of ``Action/reserve(upTo:)``.
        case reserved(SequenceNumber)
        /// Flash could not be written for ``Action/reserve(upTo:)``.
        case reservationFailed
        /// Flash could not be written for ``Action/keep(_:)``.
        case keepFailed
        /// Flash stored the settings of ``Action/keepSettings(_:)``.
        case settingsKept
        /// Flash could not be written for ``Action/keepSettings(_:)``.
        case settingsNotKept
        /// Flash stored the code of ``Action/keepCode(_:)``.
        case codeKept
        /// Flash could not be written for ``Action/keepCode(_:)``.
        case codeNotKept
        /// Flash stored the entries of ``Action/keepAudit(_:)``.
        case auditKept
        /// Flash could not be written for ``Action/keepAudit(_:)``.
        case auditNotKept
        /// The MQTT broker has acknowledged every event up to this number.
        case brokerTook(SequenceNumber)
        /// A door reported an entry for the audit log.
        case noted(AuditNote)
        /// A local user resets the plug to factory state.
        case factoryReset
        /// Flash stored the reset of ``Action/factoryReset(by:)``. The machine stops, and the shell creates a new one.
        case resetStands
        /// Flash could not be written for ``Action/factoryReset(by:)``.
        case resetFailed
        /// The last event: the machine writes unsaved state and ends all sessions. No number is used after it.
        case stopping
        /// The time of ``PlugMachine/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order: the parts, the mirror, the audit log, the controllers, the
    /// messages, the other writes to flash. So every sent event is in the mirror and survives a killed process, every
    /// reported removal of a controller survives a loss of power, and the parts never wait for flash.
    public enum Action: Hashable, Sendable {
        /// An action of a part of the hardware.
        case part(ApplianceMachine.PartAction)
        /// Adds records to the mirror before any later action is performed; at most one such action per event.
        case mirror([MirrorRecord])
        /// Writes audit entries to flash before the list of controllers. The shell answers, and no action waits for the
        /// answer. The action is repeated only after the answer, except for the last write before a stop.
        case keepAudit(AuditLog.Write)
        /// Writes the list of controllers to flash. Later messages wait until it is stored. On failure the answer is
        /// `keepFailed`.
        case keep(PairedControllers)
        /// An action of the sessions.
        case server(PlugServer.ShellAction)
        /// Resets the plug to factory state and stores that in flash, so that a loss of power cannot undo it. When the
        /// write has ended, the shell answers with `resetStands` or `resetFailed`. Sessions are not notified before the
        /// answer. This is the last action of an event, because it may fail.
        case factoryReset(by: AuditActor)
        /// Opens the plug's own Wi-Fi network for its setup, because the button requested it.
        case setUpNetwork
        /// Announces this name, with a number if it is taken. The shell answers with `renamed` if the name changed.
        case announce(String)
        /// Writes the settings to flash. The shell answers. The action is repeated only after the answer.
        case keepSettings(StoredSettings)
        /// Writes a new setup code to flash. The shell answers. The action is repeated only after the answer.
        case keepCode(SetupCode)
        /// Writes the state to flash. The shell answers with `persistFailed` if this fails.
        case persist(StoredState)
        /// Writes a new boundary to flash. The shell answers. Event numbers below the boundary may then be used.
        case reserve(upTo: SequenceNumber)
    }

    var appliance: ApplianceMachine
    var server: PlugServer
    var samples: SampleStore
    var numbers: ReservedNumbers
    /// The events and answers that wait for a number, oldest first.
    var waiting: Deque<Waiting>
    var random: SeededRandom
    /// The settings of controllers, as flash has stored them.
    public internal(set) var settings: StoredSettings
    var changes = SettingsChanges()
    /// The audit log, or nil if the plug keeps none.
    var audit: AuditLog?
    var resetBy = AuditActor.unknown
    /// The last event that the MQTT broker has acknowledged or does not need, or nil if the plug never had a broker.
    var brokerCursor: SequenceNumber?
    /// When the list of controllers is written again after a failed write.
    var keepsAgainAt: Instant?
    private var sleepers: [PlugSleeper] = []
    private var network: Surroundings.Network?
    private var surroundings: Surroundings?
    private var life: Life
    private var mirrored: MirroredState?
    private var begun: Begun?

    private enum Life: Sendable {
        case new(ApplianceMemory)
        case running
        case stopped
    }

    private struct Begun: Sendable {
        var event: Event
        var answers: [ApplianceMachine.Action]
    }

    private struct MirroredState: Equatable {
        var relayOn: Bool
        var level: DimLevel
        var tripped: Protection?
        var timers: ApplianceMemory.Timers
    }

    /// The time between two attempts to write to a flash that is full or broken.
    static let keepRetry = Duration.seconds(300)

    /// - Parameters:
    ///   - identity: The plug's identity. Its name is already the name in `settings`, if that has one.
    ///   - access: The paired controllers and the setup code, as flash has stored them.
    ///   - memory: The state of the previous run, from mirror and flash.
    ///   - settings: The settings of controllers, as flash has stored them.
    ///   - audit: The audit log, as flash has stored it, or nil if the plug keeps none.
    ///   - seed: The seed for the numbers that the plug skips to when flash fails. Must differ at every start.
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

    /// The current state of the appliance, without the sleepers.
    public var state: PlugState { appliance.state }
    /// The pattern that the light shows.
    public var light: LightPattern { appliance.light }
    /// True after a stop or a factory reset. The machine then ignores all events.
    public var isStopped: Bool { if case .stopped = life { true } else { false } }
    /// The open connections of controllers.
    public var connections: [PlugServer.Connection] { server.connections }
    /// The identity that controllers see.
    public var identity: PlugServer.Identity { server.identity }
    /// The paired controllers and the setup code.
    public var access: PlugServer.Access { server.access }
    /// The setup code that flash has not yet stored, or nil.
    public var codeInWriting: SetupCode? { server.codeInWriting }
    /// The number of sessions that ended because of malformed messages.
    public var malformedSessions: UInt64 { server.malformedCount }
    /// The number of the next event.
    public var nextSequence: SequenceNumber { server.journal.nextSequence }

    /// The memory that the mirror holds after all actions so far have been performed.
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

    /// The time of the next ``Event/deadlineReached``. Stored, because computing it through the machine would copy the
    /// machine.
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

    /// Handles an event at the time `now` and returns all actions in order.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        let parts = begin(event, now: now)
        return parts + finish(now: now)
    }

    /// Begins to handle an event and returns the actions of the parts. The numbers, records and messages take more time
    /// than the path from button to relay, and follow in ``finish(now:)``.
    /// - Precondition: The previous event has been finished.
    public mutating func begin(_ event: Event, now: Instant) -> [Action] {
        precondition(begun == nil, "finish(now:) was not called for the previous event.")
        var answers: [ApplianceMachine.Action] = []
        if case .running = life, let told = forAppliance(event, now) { answers = appliance.handle(told, now: now) }
        begun = Begun(event: event, answers: answers)
        return answers.compactMap(\.forPart)
    }

    /// Finishes the event that ``begin(_:now:)`` began, with the same time, and returns all other actions.
    public mutating func finish(now: Instant) -> [Action] {
        guard let begun = begun.take() else { return [] }
        var step = Step()
        for answer in begun.answers { follow(answer, now, &step) }
        switch life {
        case .new(let memory):
            guard case .started = begun.event else { return [] }
            life = .running
            beginAudit(now)
            // The events of the previous run get their numbers now, without waiting for flash: a controller may repeat
            // a command of that run, and the plug must then know its outcome.
            endWaiting(byLeaping: true, now, &step)
            self.step(.started(memory), now, &step)
            step.records += server.settleRequests(with: appliance.state).map { .request($0) }
        case .running: handle(begun.event, now, &step)
        case .stopped: return []
        }
        // After a stop, the waiting events belong to the next process.
        if !isStopped { endWaiting(now, &step) }
        updateSurroundings(now, &step)
        mirrorState(&step)
        reserve(now, &step)
        writeAudit(now, &step)
        nextDeadline = soonest
        return step.actions
    }

    private mutating func handle(_ event: Event, _ now: Instant, _ step: inout Step) {
        switch event {
        case .started: preconditionFailure("`started` must be handled only once.")
        case .appliance: break  // The appliance has handled it.
        case .server(let event): serve(.shell(event), now, &step)
        case .renamed(let name): takeGivenName(announcedAs: name, now, &step)
        case .networks(let networks):
            network = Surroundings.Network(networks)
            serve(.networks(networks), now, &step)
        case .reachability(let reachability):
            note(reachability, before: identity.reachability, now)
            serve(.reachability(reachability), now, &step)
        case .registration(let registration): serve(.registration(registration), now, &step)
        case .sleepers(let sleepers):
            self.sleepers = sleepers
            serve(.stateChanged(served(server.state)), now, &step)
        case .brokerTook(let sequence): brokerTook(sequence, &step)
        case .noted(let note): self.note(note.kind, by: note.actor, isRefused: note.isRefused, note.detail, now)
        case .reserved(let boundary): numbers.confirm(boundary, next: nextSequence)
        case .reservationFailed: numbers.fail(now: now)
        case .keepFailed: keepsAgainAt = now + Self.keepRetry
        case .settingsKept: endChange(isKept: true, now, &step)
        case .settingsNotKept: endChange(isKept: false, now, &step)
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

    /// Returns the event that the appliance must handle first, or nil.
    private func forAppliance(_ event: Event, _ now: Instant) -> ApplianceMachine.Event? {
        switch event {
        case .appliance(let event): .shell(event)
        case .deadlineReached: appliance.nextDeadline.flatMap { $0 <= now ? .deadlineReached : nil }
        default: nil
        }
    }

    mutating func step(_ event: ApplianceMachine.Event, _ now: Instant, _ step: inout Step) {
        let answers = appliance.handle(event, now: now)
        step.parts += answers.compactMap(\.forPart)
        for answer in answers { follow(answer, now, &step) }
    }

    /// Carries out an action of the appliance, apart from the part that it controls.
    private mutating func follow(_ answer: ApplianceMachine.Action, _ now: Instant, _ step: inout Step) {
        switch answer {
        case .part: break
        case .persist(let state): step.flash.append(.persist(state))
        case .openPairing: serve(.openPairing, now, &step)
        case .setUpNetwork: step.sends.append(.setUpNetwork)
        case .factoryReset: askForReset(by: .button, &step)
        case .record(let kind): record(kind, now, &step)
        case .stateChanged(let state): serve(.stateChanged(served(state)), now, &step)
        case .commandDone(let request, let answer): self.answer(request, answer, now, &step)
        case .sample(let sample):
            // A firmware that restarts within a millisecond would add a second sample with the same time. Clients fetch
            // samples from the millisecond after the last one, so they would not receive it.
            guard samples.lastMilliseconds.map({ $0 < sample.milliseconds }) ?? true else { return }
            samples.append(sample)
            step.records.append(.sample(sample, milliwattHours: appliance.storedState.milliwattHours))
        }
    }

    /// The state that controllers receive: the appliance's state with the sleepers.
    private func served(_ state: PlugState) -> PlugState {
        var state = state
        state.sleepers = sleepers
        return state
    }

    /// Mirrors the state when it changes. Energy is mirrored with the samples.
    private mutating func mirrorState(_ step: inout Step) {
        let state = appliance.storedState
        let new = MirroredState(
            relayOn: state.relayOn, level: state.level, tripped: state.tripped, timers: appliance.timers)
        guard new != mirrored else { return }
        mirrored = new
        step.records.append(.state(state, new.timers))
    }

    /// Passes the state of pairing, sessions and network to the appliance, which shows it on the light.
    private mutating func updateSurroundings(_ now: Instant, _ step: inout Step) {
        let new = Surroundings(
            isPaired: !server.access.controllers.all.isEmpty, isPairingOpen: server.access.isOpen(at: now),
            network: network, isConnected: server.isFollowed,
            isReachable: identity.reachability.contains { $0.publicPlace != nil })
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
