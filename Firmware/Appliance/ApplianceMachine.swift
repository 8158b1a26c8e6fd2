public import Metering
public import PlugProtocol
public import ProtocolCore

/// The plug as a machine: button, relay, dimmer, light, protection, auto-off and metering policy.
///
/// Sessions, journal and storage are others' work: the machine says what to record and what to keep. It needs no network,
/// so the button works whatever else is broken.
public struct ApplianceMachine: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// First of all events.
        case started(ApplianceMemory)
        /// A raw edge of the button's contact; the machine does the debouncing.
        case buttonEdge(down: Bool)
        /// The name of the controller stands in the event that records the change.
        case command(RequestID, controller: String, PlugCommand)
        /// The answer to ``Action/readMeter``.
        case measured(Measurement)
        /// The other answer to ``Action/readMeter``.
        case meterFailed
        /// The answer to ``Action/persist(_:)`` where nothing was written.
        case persistFailed
        /// The firmware stops in order: what flash lacks is written now.
        case stopping
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        case setRelay(Bool)
        case setDimmer(DimLevel)
        /// Light on or off; the machine does the blinking.
        case setLight(Bool)
        /// To be answered by ``Event/measured(_:)`` or ``Event/meterFailed``.
        case readMeter
        /// An event for the journal.
        case record(PlugEvent.Kind)
        /// The newest state; at most one in the answer to an event.
        case stateChanged(PlugState)
        case commandDone(RequestID, CommandAnswer)
        /// A sample for the history.
        case sample(Sample)
        /// State to write to flash.
        case persist(StoredState)
        /// Somebody held the button for a factory reset.
        case factoryReset
    }

    /// The outcome of a command, but for the sequence number, which only the journal's owner knows.
    public enum CommandAnswer: Hashable, Sendable {
        /// `recorded`: the last ``Action/record(_:)`` before this action is the event that records the change; its cause
        /// names the request. Otherwise nothing changed.
        case done(PlugState, recorded: Bool)
        case refused(Refusal)
    }

    /// While the level moves, the state is reported no more often than this.
    static let levelReportInterval = Duration.milliseconds(200)
    /// How long the light blinks when asked which plug this is.
    static let identifyTime = Duration.seconds(10)

    let configuration: ApplianceConfiguration
    private(set) var isStarted = false
    var button: ButtonReader
    var protection: OverPowerGuard
    var relayOn = false
    /// Where the dimmer is now; while the relay is off, where it will be.
    var level = DimLevel.full
    /// Where the dimmer comes to rest. Never zero: off is the relay's work, so that turning on gives light.
    var restingLevel = DimLevel.full
    var transition: DimTransition?
    /// When the relay turns off by itself.
    public internal(set) var autoOffAt: Instant?
    var identifyUntil: Instant?
    var nextMeasurement: Instant?
    var reading: Reading?
    var energy = EnergyCounter()
    private var light = StatusLight()
    private var keeper: StateKeeper?
    private var reported: PlugState?
    private var levelReportedAt = Instant.zero

    public init(_ configuration: ApplianceConfiguration) {
        self.configuration = configuration
        button = ButtonReader(configuration)
        protection = OverPowerGuard(configuration.overPower)
    }

    /// The state as a snapshot shows it.
    public var state: PlugState {
        PlugState(relayOn: relayOn, level: can(.dimmer) ? level : nil, reading: reading)
    }

    /// The state as flash should have it.
    public var storedState: StoredState {
        StoredState(relayOn: relayOn, level: restingLevel, milliwattHours: energy.milliwattHours)
    }

    public var nextDeadline: Instant? {
        guard isStarted else { return nil }
        let deadlines = [
            button.nextDeadline, transition?.nextStep, autoOffAt, identifyUntil, nextMeasurement, readingExpires,
            light.nextDeadline, keeper?.nextDeadline,
        ]
        return deadlines.reduce(nil, sooner)
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        if isStarted {
            doWhatIsDue(now, &actions)
            perform(event, now, &actions)
        } else if case .started(let memory) = event {
            isStarted = true
            start(memory, now, &actions)
        } else if case .command(let request, _, _) = event {
            actions.append(.commandDone(request, .refused(Refusal(.busy, "The plug is starting; try again."))))
        }
        if isStarted { report(now, &actions) }
        return actions
    }

    private mutating func perform(_ event: Event, _ now: Instant, _ actions: inout [Action]) {
        switch event {
        case .started: preconditionFailure("A plug starts once.")
        case .buttonEdge(let down): button.edge(down: down, now: now)
        case .command(let request, let controller, let command):
            let cause = RelayCause.controller(name: controller, request: request)
            let answer = carryOut(command, cause: cause, now, &actions)
            actions.append(.commandDone(request, answer))
        case .measured(let measurement): measured(measurement, now, &actions)
        case .meterFailed: protection.interrupt()
        case .persistFailed: keeper?.failed(now: now)
        case .stopping:
            let stored = storedState
            if keeper?.write(stored, now: now) == true { actions.append(.persist(stored)) }
        case .deadlineReached: break
        }
    }

    /// Everything whose time has come, so that an event always meets the state of its own time.
    private mutating func doWhatIsDue(_ now: Instant, _ actions: inout [Action]) {
        for sign in button.advance(to: now) { obey(sign, now, &actions) }
        stepTransition(now, &actions)
        if let deadline = autoOffAt, deadline <= now {
            _ = switchRelay(false, cause: .timer, now, &actions)
        }
        if let deadline = identifyUntil, deadline <= now { identifyUntil = nil }
        if let deadline = nextMeasurement, deadline <= now { requestMeasurement(now, &actions) }
        if let deadline = readingExpires, deadline <= now { reading = nil }
    }

    private mutating func start(_ memory: ApplianceMemory, _ now: Instant, _ actions: inout [Action]) {
        let stored = memory.state ?? StoredState()
        keeper = StateKeeper(memory.inFlash ?? StoredState(), energy: stored.milliwattHours, now: now)
        energy = EnergyCounter(milliwattHours: stored.milliwattHours)
        restingLevel = stored.level
        level = restingLevel
        // One that was set back to factory state starts as one that is new.
        let policy = memory.powerLost || memory.state == nil ? configuration.powerOnState : .last
        relayOn =
            switch policy {
            case .off: false
            case .on: true
            case .last: stored.relayOn
            }
        actions.append(.record(.restarted(powerLost: memory.powerLost)))
        if can(.dimmer) { actions.append(.setDimmer(level)) }
        actions.append(.setRelay(relayOn))
        if relayOn != stored.relayOn { actions.append(.record(.relayChanged(on: relayOn, cause: .powerOn))) }
        if relayOn { autoOffAt = memory.autoOff ?? configuration.autoOff.map { now + $0 } }
        if can(.meter) { requestMeasurement(now, &actions) }
    }

    /// What the outside sees after an event: the light, the state, what flash should have.
    private mutating func report(_ now: Instant, _ actions: inout [Action]) {
        if let lit = light.show(lightPattern, now: now) { actions.append(.setLight(lit)) }
        let state = state
        if state != reported, !isMerelyMoving(state, now) {
            if state.level != reported?.level { levelReportedAt = now }
            reported = state
            actions.append(.stateChanged(state))
        }
        let stored = storedState
        if keeper?.shouldWrite(stored, now: now) == true { actions.append(.persist(stored)) }
    }

    /// True when only the level differs, on a way whose end is yet to come, and the last report is recent.
    private func isMerelyMoving(_ state: PlugState, _ now: Instant) -> Bool {
        guard transition != nil, var before = reported else { return false }
        before.level = state.level
        return before == state && now - levelReportedAt < Self.levelReportInterval
    }

    private var lightPattern: LightPattern {
        if button.isNearReset { return .nearReset }
        if identifyUntil != nil { return .identify }
        return protection.isTripped ? .tripped : .steady(lit: relayOn)
    }

    func can(_ capability: Capability) -> Bool { configuration.capabilities.contains(capability) }
}
