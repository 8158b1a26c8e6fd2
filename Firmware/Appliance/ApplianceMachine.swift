public import Metering
public import PlugModel
public import ProtocolCore

/// The plug as a machine: button, relay, dimmer, light, protection, auto-off and metering policy.
///
/// Sessions, journal and storage are others' work: the machine says what to record and what to keep. It needs no network,
/// so the button works whatever else is broken.
public struct ApplianceMachine: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// First of all events.
        case started(ApplianceMemory)
        /// An edge of the button's contact, and when it was: `now` or before. The machine does the debouncing where nobody did.
        case buttonEdge(down: Bool, at: Instant)
        /// The name of the controller stands in the event that records the change.
        case command(CommandID, controller: String, PlugCommand)
        /// The answer to ``Action/readMeter``.
        case measured(Measurement)
        /// The other answer to ``Action/readMeter``.
        case meterFailed
        /// Tenths of a degree Celsius, before the meter's answer where there is a meter too; nil: the thermometer failed.
        case temperature(Int16?)
        /// What the light shows of the world around.
        case surroundings(Surroundings)
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
        /// To be answered, at once or later: by ``Event/temperature(_:)`` where there is a thermometer, then by
        /// ``Event/measured(_:)`` or ``Event/meterFailed`` where there is a meter. Comes again only after the answer.
        case readMeter
        /// An event for the journal.
        case record(PlugEvent.Kind)
        /// The newest state; at most one in the answer to an event.
        case stateChanged(PlugState)
        case commandDone(CommandID, CommandAnswer)
        /// A sample for the history.
        case sample(Sample)
        /// State to write to flash.
        case persist(StoredState)
        /// Somebody held the button to pair the plug.
        case openPairing
        /// Somebody held the button for a factory reset.
        case factoryReset
    }

    /// The outcome of a command, but for the sequence number, which only the journal's owner knows.
    public enum CommandAnswer: Hashable, Sendable {
        /// `recorded`: an ``Action/record(_:)`` before this action is the event that records the change; its cause names the
        /// request. Otherwise nothing changed.
        case done(PlugState, recorded: Bool)
        case refused(Refusal)
    }

    /// While the level moves, the state is reported no more often than this.
    static let levelReportInterval = Duration.milliseconds(200)
    /// A reading that is all that is new is reported no more often than this, so that who follows a plug that measures ten times
    /// a second hears of one a second, as of any other. Less than a second, since measurements come early and late.
    static let readingReportInterval = Duration.milliseconds(900)
    /// How long the light blinks when asked which plug this is.
    static let identifyTime = Duration.seconds(10)

    /// As it was configured.
    let built: ApplianceConfiguration
    /// The same with what controllers changed.
    private(set) var configuration: ApplianceConfiguration
    private(set) var isStarted = false
    var button: ButtonReader
    var guards: ProtectionGuards
    var switchingRate: SwitchingRateGuard
    var rest: RestTime
    /// What locks the relay open.
    var tripped: Protection?
    var relayOn = false
    /// Where the dimmer is now; while the relay is off, where it will be.
    var level = DimLevel.full
    /// Where the dimmer comes to rest. Never zero: off is a state of its own, so that turning on gives light.
    var restingLevel = DimLevel.full
    var transition: DimTransition?
    /// When the relay turns off by itself.
    var autoOffAt: Instant?
    var identifyUntil: Instant?
    var nextMeasurement: Instant?
    /// The meter was asked and has not answered.
    var isMeasuring = false
    private var surroundings: Surroundings?
    var reading: Reading?
    var energy = EnergyCounter()
    private var lamp = StatusLight()
    var keeper: StateKeeper?
    private var reported: PlugState?
    private var levelReportedAt = Instant.zero
    private var readingReportedAt = Instant(nanoseconds: .min)

    public init(_ configuration: ApplianceConfiguration) {
        built = configuration
        self.configuration = configuration
        button = ButtonReader(configuration)
        guards = ProtectionGuards(configuration)
        switchingRate = SwitchingRateGuard(configuration.switchingRate)
        rest = RestTime(configuration.rest)
    }

    /// From now on it is set up so. A timer that runs goes on.
    mutating func configure(_ settings: StoredSettings) {
        let before = configuration
        configuration = built.changed(by: settings)
        if configuration.overPower != before.overPower { guards.limitPower(configuration.overPower) }
    }

    /// The state as a snapshot shows it.
    public var state: PlugState {
        PlugState(relayOn: relayOn, level: can(.dimmer) ? level : nil, reading: reading, tripped: tripped)
    }

    /// The state as flash should have it.
    public var storedState: StoredState {
        StoredState(
            relayOn: relayOn || rest.delayed != nil, level: restingLevel, milliwattHours: energy.milliwattHours,
            tripped: tripped)
    }

    /// What runs on if the process is killed now.
    public var timers: ApplianceMemory.Timers {
        ApplianceMemory.Timers(autoOff: autoOffAt, offSince: rest.offSince, delayed: rest.delayed)
    }

    /// What the light shows.
    public var light: LightPattern { lamp.pattern }

    public var nextDeadline: Instant? {
        guard isStarted else { return nil }
        // Asked after every event: without an array that is allocated for it.
        var next = sooner(button.nextDeadline, transition?.nextStep)
        next = sooner(next, sooner(autoOffAt, rest.nextDeadline))
        next = sooner(next, sooner(identifyUntil, isMeasuring ? nil : nextMeasurement))
        next = sooner(next, sooner(readingExpires, configuration.hasLamp ? lamp.nextDeadline : nil))
        return sooner(next, keeper?.nextDeadline)
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        if isStarted {
            // An edge says itself until when the button was as before.
            if !event.isButtonEdge { for sign in button.advance(to: now) { obey(sign, now, &actions) } }
            doWhatIsDue(now, &actions)
            perform(event, now, &actions)
        } else if case .started(let memory) = event {
            isStarted = true
            start(memory, now, &actions)
        } else if case .command(let id, _, _) = event {
            actions.append(.commandDone(id, .refused(Refusal(.busy, "The plug is starting; try again."))))
        }
        if isStarted { report(now, &actions) }
        return actions
    }

    private mutating func perform(_ event: Event, _ now: Instant, _ actions: inout [Action]) {
        switch event {
        case .started: preconditionFailure("A plug starts once.")
        case .buttonEdge(let down, let time):
            for sign in button.edge(down: down, at: time, now: now) { obey(sign, now, &actions) }
        case .command(let id, let controller, let command):
            let cause = RelayCause.controller(name: controller, request: id.request, authority: id.authority)
            let answer = carryOut(command, cause: cause, now, &actions)
            actions.append(.commandDone(id, answer))
        case .measured(let measurement): measured(measurement, now, &actions)
        case .meterFailed: meterFailed(now)
        case .temperature(let decidegrees): temperature(decidegrees, now, &actions)
        case .surroundings(let new): surroundings = new
        case .persistFailed: keeper?.failed(now: now)
        case .stopping:
            let stored = storedState
            if keeper?.write(stored, now: now) == true { actions.append(.persist(stored)) }
        case .deadlineReached: break
        }
    }

    /// Everything whose time has come, so that an event always meets the state of its own time.
    private mutating func doWhatIsDue(_ now: Instant, _ actions: inout [Action]) {
        stepTransition(now, &actions)
        if let deadline = autoOffAt, deadline <= now {
            _ = switchRelay(false, cause: .timer, now, &actions)
        }
        if let start = rest.delayed, let deadline = rest.nextDeadline, deadline <= now {
            _ = switchRelay(true, cause: start.cause, now, &actions)
        }
        if let deadline = identifyUntil, deadline <= now { identifyUntil = nil }
        if let deadline = nextMeasurement, deadline <= now, !isMeasuring { requestMeasurement(now, &actions) }
        if let deadline = readingExpires, deadline <= now { expireReading() }
    }

    /// What the outside sees after an event: the light, the state, what flash should have.
    private mutating func report(_ now: Instant, _ actions: inout [Action]) {
        if let lit = lamp.show(lightPattern, now: now), configuration.hasLamp { actions.append(.setLight(lit)) }
        let state = state
        if state != reported, !isMerelyMoving(state, now), !isMerelyMeasured(state, now) {
            if state.reading != reported?.reading { readingReportedAt = now }
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

    /// True when only the reading is another, and the last report of one is recent. The next measurement brings a newer one.
    private func isMerelyMeasured(_ state: PlugState, _ now: Instant) -> Bool {
        guard state.reading != nil, var before = reported, before.reading != nil else { return false }
        before.reading = state.reading
        return before == state && now - readingReportedAt < Self.readingReportInterval
    }

    /// The table of ``LightPattern`` from above.
    private var lightPattern: LightPattern {
        if button.isNearReset { return .nearReset }
        if identifyUntil != nil { return .identify }
        if rest.delayed != nil { return .resting }
        if surroundings?.isPairingOpen == true { return .pairing }
        if tripped != nil { return .tripped }
        guard let surroundings else { return .connected(lit: relayOn) }
        if surroundings.network == Surroundings.Network.none { return .noAddress(lit: relayOn) }
        if !surroundings.isPaired { return .unpaired(lit: relayOn) }
        if surroundings.network == .linkLocal { return .linkLocal(lit: relayOn) }
        return surroundings.isConnected ? .connected(lit: relayOn) : .alone(lit: relayOn)
    }

    func can(_ capability: Capability) -> Bool { configuration.capabilities.contains(capability) }
}

extension ApplianceMachine.Event {
    fileprivate var isButtonEdge: Bool {
        switch self {
        case .buttonEdge: true
        case .started, .command, .measured, .meterFailed, .temperature, .surroundings, .persistFailed, .stopping,
            .deadlineReached:
            false
        }
    }
}
