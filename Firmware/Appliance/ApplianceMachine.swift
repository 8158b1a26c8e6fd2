public import Metering
public import PlugModel
public import ProtocolCore

/// The state machine of the appliance: button, relay, dimmer, light, protection, auto-off and metering.
///
/// The machine outputs the events to record and the state to store; sessions, journal and storage belong to other
/// types. It needs no network, so the button works when everything else fails.
public struct ApplianceMachine: Machine, Sendable {
    /// An event that the shell reports: of the button, the meter, the thermometer or flash.
    public enum ShellEvent: Sendable {
        /// The button's contact changed at the given time, which is at most `now`. Edges arrive in their order. The
        /// machine debounces if the hardware did not.
        case buttonEdge(down: Bool, at: Instant)
        /// The meter answered ``PartAction/readMeter``.
        case measured(Measurement)
        /// The meter failed to answer ``PartAction/readMeter``.
        case meterFailed
        /// The temperature in tenths of a degree Celsius; nil if the thermometer failed. With a meter, this event
        /// precedes the meter's answer.
        case temperature(Int16?)
        /// The minute of the day in the plug's time zone, 0 to 1439; nil while the plug does not know the time. The
        /// shell reports each new minute.
        case minuteOfDay(Int?)
        /// Flash could not be written for ``Action/persist(_:)``.
        case persistFailed
    }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Sendable {
        /// The plug started with this memory. Must be the first event.
        case started(ApplianceMemory)
        /// An event of a part of the hardware, or of flash.
        case shell(ShellEvent)
        /// A controller sent a command. The name of the controller is part of the event that records the change.
        case command(CommandID, controller: String, PlugCommand)
        /// The state of pairing and network that the light shows.
        case surroundings(Surroundings)
        /// The firmware shuts down. The machine writes the unsaved state now.
        case stopping
        /// The time of ``ApplianceMachine/nextDeadline`` was reached.
        case deadlineReached
    }

    /// An action of a part of the hardware: relay, dimmer, light or meter.
    public enum PartAction: Hashable, Sendable {
        /// Closes (true) or opens (false) the relay.
        case setRelay(Bool)
        /// Sets the level of the dimmer.
        case setDimmer(DimLevel)
        /// Turns the light on or off. The machine calculates the blinking.
        case setLight(Bool)
        /// Requests a measurement. The shell answers now or later: with ``ShellEvent/temperature(_:)`` if there is a
        /// thermometer, then with ``ShellEvent/measured(_:)`` or ``ShellEvent/meterFailed`` if there is a meter. The
        /// action is repeated only after the answer.
        case readMeter
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// An action of a part of the hardware.
        case part(PartAction)
        /// Records an event in the journal.
        case record(PlugEvent.Kind)
        /// Reports the new state; at most one per handled event.
        case stateChanged(PlugState)
        /// Reports the outcome of a command.
        case commandDone(CommandID, CommandAnswer)
        /// Adds a sample to the history.
        case sample(Sample)
        /// Writes the state to flash.
        case persist(StoredState)
        /// Opens the pairing window, because the user held the button for ``ApplianceConfiguration/pairingHold``.
        case openPairing
        /// Opens the plug's own Wi-Fi network, because the user released the button after
        /// ``ApplianceConfiguration/resetWarning``.
        case setUpNetwork
        /// Resets the plug to factory state, because the user held the button for ``ApplianceConfiguration/resetHold``.
        case factoryReset
    }

    /// The outcome of a command. The caller adds the sequence number, which only the owner of the journal knows.
    public enum CommandAnswer: Hashable, Sendable {
        /// The command was carried out. If `recorded` is true, an earlier ``Action/record(_:)`` of the same step
        /// records the change, with the request in its cause. If false, the relay and its lock did not change, but the
        /// level or the light may have changed.
        case done(PlugState, recorded: Bool)
        /// The command was refused. The relay did not change, but a command that exceeds the switching rate locks it.
        case refused(Refusal)
    }

    /// The minimum time between two reports of a moving level.
    static let levelReportInterval = Duration.milliseconds(200)
    /// The minimum time between two reports that differ only in the reading. Clients receive one reading per second
    /// even if the plug measures ten times per second. The value is less than a second because measurements arrive with
    /// jitter.
    static let readingReportInterval = Duration.milliseconds(900)
    /// How long the light blinks after an identify command.
    static let identifyTime = Duration.seconds(10)

    /// The configuration without the settings of controllers.
    let built: ApplianceConfiguration
    /// The configuration with the settings of controllers applied.
    private(set) var configuration: ApplianceConfiguration
    private(set) var isStarted = false
    var button: ButtonReader
    var guards: ProtectionGuards
    var switchingRate: SwitchingRateGuard
    var rest: RestTime
    /// The protection that locks the relay open, or nil.
    var tripped: Protection?
    var relayOn = false
    /// The current level of the dimmer; while the relay is off, the level for the next time that it turns on.
    var level = DimLevel.full
    /// The level at the end of a transition. Never zero: off is a separate state, so that turning on always gives
    /// light.
    var restingLevel = DimLevel.full
    var transition: DimTransition?
    /// When the relay turns off automatically.
    var autoOffAt: Instant?
    var identifyUntil: Instant?
    var nextMeasurement: Instant?
    /// True after a request to the meter until it answers.
    var isMeasuring = false
    private var surroundings: Surroundings?
    private var minuteOfDay: Int?
    var reading: Reading?
    var energy = EnergyCounter()
    private var lamp = StatusLight()
    var keeper: StateKeeper?
    private var reported: PlugState?
    private var levelReportedAt = Instant.zero
    private var readingReportedAt = Instant(nanoseconds: .min)

    /// Creates a machine that waits for ``Event/started(_:)``.
    public init(_ configuration: ApplianceConfiguration) {
        built = configuration
        self.configuration = configuration
        button = ButtonReader(configuration)
        guards = ProtectionGuards(configuration)
        switchingRate = SwitchingRateGuard(configuration.switchingRate)
        rest = RestTime(configuration.rest)
    }

    /// Applies the settings of controllers. A running timer continues.
    mutating func configure(_ settings: StoredSettings) {
        let before = configuration
        configuration = built.changed(by: settings)
        if configuration.overPower != before.overPower { guards.limitPower(configuration.overPower) }
    }

    /// The current state, as a snapshot reports it.
    public var state: PlugState {
        PlugState(relayOn: relayOn, level: can(.dimmer) ? level : nil, reading: reading, tripped: tripped)
    }

    /// The current state, as flash should store it.
    public var storedState: StoredState {
        StoredState(
            relayOn: relayOn || rest.delayed != nil, level: restingLevel, milliwattHours: energy.milliwattHours,
            tripped: tripped)
    }

    /// The timers that must continue if the process is killed now.
    public var timers: ApplianceMemory.Timers {
        ApplianceMemory.Timers(autoOff: autoOffAt, offSince: rest.offSince, delayed: rest.delayed)
    }

    /// The pattern that the light shows.
    public var light: LightPattern { lamp.pattern }

    /// The time of the next ``Event/deadlineReached``, or nil before the start.
    public var nextDeadline: Instant? {
        guard isStarted else { return nil }
        // This runs after every event, so it allocates no array.
        var next = sooner(button.nextDeadline, transition?.nextStep)
        next = sooner(next, sooner(autoOffAt, rest.nextDeadline))
        next = sooner(next, sooner(identifyUntil, isMeasuring ? nil : nextMeasurement))
        next = sooner(next, sooner(readingExpires, configuration.hasLamp ? lamp.nextDeadline : nil))
        return sooner(next, keeper?.nextDeadline)
    }

    /// Handles an event at the time `now` and returns the actions to perform in order. Before ``Event/started(_:)``,
    /// commands are refused as busy and other events are ignored.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        if isStarted {
            // An edge event has its own time, so the button must not be advanced to `now` before it.
            if !event.isButtonEdge { for sign in button.advance(to: now) { obey(sign, now, &actions) } }
            runDueTimers(now, &actions)
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

    private mutating func perform(_ event: ShellEvent, _ now: Instant, _ actions: inout [Action]) {
        switch event {
        case .buttonEdge(let down, let time):
            for sign in button.edge(down: down, at: time, now: now) { obey(sign, now, &actions) }
        case .measured(let measurement): measured(measurement, now, &actions)
        case .meterFailed: meterFailed(now)
        case .temperature(let decidegrees): temperature(decidegrees, now, &actions)
        case .minuteOfDay(let minute): minuteOfDay = minute
        case .persistFailed: keeper?.failed(now: now)
        }
    }

    private mutating func perform(_ event: Event, _ now: Instant, _ actions: inout [Action]) {
        switch event {
        case .started: preconditionFailure("`started` must be handled only once.")
        case .shell(let event): perform(event, now, &actions)
        case .command(let id, let controller, let command):
            let cause = RelayCause.controller(name: controller, request: id.request, authority: id.authority)
            let answer = carryOut(command, cause: cause, now, &actions)
            actions.append(.commandDone(id, answer))
        case .surroundings(let new): surroundings = new
        case .stopping:
            let stored = storedState
            if keeper?.write(stored, now: now) == true { actions.append(.persist(stored)) }
        case .deadlineReached: break
        }
    }

    /// Runs every timer that is due, so that each event is handled in the state of its time.
    private mutating func runDueTimers(_ now: Instant, _ actions: inout [Action]) {
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

    /// Appends the actions for the light, the reported state and flash after an event.
    private mutating func report(_ now: Instant, _ actions: inout [Action]) {
        if let lit = lamp.show(lightPattern, now: now), configuration.hasLamp { actions.append(.part(.setLight(lit))) }
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

    /// True if only the level differs, a transition is running and the last report is recent.
    private func isMerelyMoving(_ state: PlugState, _ now: Instant) -> Bool {
        guard transition != nil, var before = reported else { return false }
        before.level = state.level
        return before == state && now - levelReportedAt < Self.levelReportInterval
    }

    /// True if only the reading differs and the last reported reading is recent. The next measurement brings a newer
    /// one.
    private func isMerelyMeasured(_ state: PlugState, _ now: Instant) -> Bool {
        guard state.reading != nil, var before = reported, before.reading != nil else { return false }
        before.reading = state.reading
        return before == state && now - readingReportedAt < Self.readingReportInterval
    }

    /// The pattern to show: the first one in the order of ``LightPattern`` whose condition is met.
    private var lightPattern: LightPattern {
        if button.isNearReset { return .nearReset }
        if identifyUntil != nil { return .identify }
        let isDark = minuteOfDay.map { configuration.lightOff.contains($0) } ?? false
        if rest.delayed != nil, !isDark { return .resting }
        if surroundings?.isPairingOpen == true { return .pairing }
        if tripped != nil { return .tripped }
        if isDark { return .dark }
        guard let surroundings else { return .connected(lit: relayOn) }
        if surroundings.network == Surroundings.Network.none { return .noAddress(lit: relayOn) }
        if !surroundings.isPaired { return .unpaired(lit: relayOn) }
        if surroundings.network == .linkLocal { return .linkLocal(lit: relayOn) }
        let isReachable = surroundings.isReachable
        return surroundings.isConnected
            ? .connected(lit: relayOn, isReachable: isReachable) : .alone(lit: relayOn, isReachable: isReachable)
    }

    func can(_ capability: Capability) -> Bool { configuration.capabilities.contains(capability) }
}

extension ApplianceMachine.Event {
    fileprivate var isButtonEdge: Bool { if case .shell(.buttonEdge) = self { true } else { false } }
}
