import Appliance
import Metering
import PlugModel
import ProtocolCore

/// Runs one plug without its network in virtual time: a bouncing button, commands, loads, faults, kills and power cuts,
/// all from one seed. The invariants are checked after every step.
struct ApplianceSoak {
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// The numbers of short presses, of the relay's toggles by the button, and of the reported short presses. A
    /// double press counts as two.
    struct Count {
        var made = 0
        var toggles = 0
        var reported = 0
    }

    let configuration: ApplianceConfiguration
    private(set) var presses = Count()
    var random: SeededRandom
    var machine: ApplianceMachine
    var now = Instant.zero + .seconds(20)
    /// True if the last `setRelay` closed the line of the relay. A power cut opens the line.
    private var isClosed = false
    private var openedAt: Instant
    private var recordedOn: Bool
    private var flash: StoredState?
    private var energy: UInt64 = 0
    /// The time since which the machine has had energy that is not in flash.
    private var unsavedSince: Instant?
    private var isAsked = false
    private var unanswered = 0
    var commands = 0
    private var answers = 0
    private var wornAt: [Instant] = []
    var load: Int32 = 0
    var isWelded = false
    var isMeterDead = false
    var isFlashBroken = false
    private var wasFlashBroken = false

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        var configuration = ApplianceConfiguration()
        configuration.debounce = random.chance(0.5) ? .zero : .milliseconds(20)
        configuration.doublePressWindow = random.chance(0.3) ? .zero : .milliseconds(300)
        configuration.powerOnState = PowerOnState.allCases.randomElement(using: &random)!
        if random.chance(0.4) { configuration.rest = .seconds(Int64.random(in: 1...300, using: &random)) }
        if random.chance(0.4) { configuration.autoOff = .seconds(Int64.random(in: 1...900, using: &random)) }
        if random.chance(0.4) {
            configuration.switchingRate = SwitchingRate(
                count: .random(in: 1...10, using: &random), window: .seconds(Int64.random(in: 1...600, using: &random)))
        }
        if random.chance(0.3) { configuration.capabilities.insert(.dimmer) }
        configuration.hasThermometer = random.chance(0.5)
        configuration.underVoltage = VoltageLimit(decivolts: 1800, duration: .seconds(4))
        let intervals: [Duration] = [.milliseconds(100), .seconds(1), .seconds(10), .seconds(60)]
        configuration.meterInterval = intervals.randomElement(using: &random)!
        self.configuration = configuration
        machine = ApplianceMachine(configuration)
        openedAt = now
        recordedOn = false
    }

    // MARK: Starts and ends

    mutating func start() throws { try feed(.started(ApplianceMemory(nil))) }

    /// Kills the process. The mirror has the complete state, and the relay keeps its position.
    mutating func kill() throws {
        var memory = ApplianceMemory(machine.storedState, powerLost: false)
        memory.inFlash = flash
        memory.timers = machine.timers
        try begin(memory)
    }

    mutating func cutPower() throws {
        let lost = energy - (flash?.milliwattHours ?? 0)
        // The machine writes after each 100 Wh, at most 75 s late. During this time and one meter interval the load
        // takes up to 12 kW.
        let step = 100_000 + 12_000 * 1000 * 75 / 3600 + UInt64(configuration.meterInterval.inSeconds * 12_000 / 3.6)
        try require(wasFlashBroken || lost <= step, "a power cut loses \(lost) mWh of energy")
        if let unsavedSince, !wasFlashBroken {
            try require(now - unsavedSince <= .seconds(3660), "lost energy of \((now - unsavedSince).inSeconds) s")
        }
        energy = flash?.milliwattHours ?? 0
        recordedOn = flash?.relayOn ?? false
        unsavedSince = nil
        if isClosed || openedAt < now { openedAt = now }
        isClosed = false
        try begin(ApplianceMemory(flash, powerLost: true))
    }

    private mutating func begin(_ memory: ApplianceMemory) throws {
        // Working flash stores a lock at once, so the reported lock must be restored. After a power cut with broken
        // flash, the lock that flash has must be restored.
        let locked = memory.powerLost && wasFlashBroken ? flash?.tripped : machine.state.tripped
        machine = ApplianceMachine(configuration)
        isAsked = false
        wornAt = []
        try feed(.started(memory))
        // If a second lock followed within moments, a power cut may restore the first one, because writes are rate
        // limited.
        let isKept = memory.powerLost ? machine.state.tripped != nil : machine.state.tripped == locked
        try require(locked == nil || isKept, "the lock of \(locked!) was lost at the start")
    }

    // MARK: Steps

    mutating func feed(_ event: ApplianceMachine.Event) throws {
        for action in machine.handle(event, now: now) { try perform(action) }
        try check()
        if isAsked, !isMeterDead, random.chance(0.95) { try answer() }
    }

    mutating func answer() throws {
        isAsked = false
        if configuration.hasThermometer {
            try feed(.shell(.temperature(random.chance(0.001) ? 900 : random.chance(0.02) ? nil : 300)))
        }
        guard !isAsked else { return }
        if random.chance(0.02) { return try feed(.shell(.meterFailed)) }
        let drawn = isClosed || isWelded ? load : 0
        try feed(
            .shell(
                .measured(
                    Measurement(
                        deciwatts: drawn, decivolts: random.chance(0.01) ? 1500 : 2300,
                        milliamperes: UInt32(drawn.magnitude) * 1000 / 2300))))
    }

    mutating func run(for duration: Duration) throws {
        let end = now + duration
        while let deadline = machine.nextDeadline, deadline <= end {
            // In one of ten cases the shell wakes up 3 ms late.
            now = max(now, min(end, deadline + (random.chance(0.1) ? .milliseconds(3) : .zero)))
            try feed(.deadlineReached)
            if let next = machine.nextDeadline { try require(next > now, "the next deadline is not after \(now)") }
        }
        now = end
    }

    /// Presses the button for `duration`. The contact may bounce if the configuration has a debounce time.
    mutating func press(for duration: Duration) throws {
        for down in [true, false] {
            if configuration.debounce > .zero, random.chance(0.5) {
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    try edge(down)
                    now = now + .milliseconds(Int64.random(in: 0...3, using: &random))
                    try edge(!down)
                    now = now + .milliseconds(Int64.random(in: 0...3, using: &random))
                }
            }
            try edge(down)
            try run(for: down ? duration : configuration.debounce + .milliseconds(5))
        }
        if duration < configuration.longPress { presses.made += 1 }
    }

    private mutating func edge(_ down: Bool) throws {
        let age = random.chance(0.2) ? Duration.microseconds(Int64.random(in: 0...900, using: &random)) : .zero
        try feed(.shell(.buttonEdge(down: down, at: now - age)))
    }

    // MARK: Actions

    private mutating func perform(_ action: ApplianceMachine.Action) throws {
        switch action {
        case .part(.setRelay(let on)):
            if on, !isClosed, let rest = configuration.rest {
                try require(now - openedAt >= rest, "the relay rested for only \((now - openedAt).inSeconds) s")
            }
            if !on, isClosed { openedAt = now }
            isClosed = on
        case .part(.readMeter):
            try require(!isAsked, "the meter is read twice at once")
            isAsked = true
        case .persist(let state):
            if isFlashBroken {
                for action in machine.handle(.shell(.persistFailed), now: now) { try perform(action) }
            } else {
                flash = state
                unsavedSince = nil
            }
        case .commandDone: answers += 1
        case .record(let kind): try note(kind)
        case .part, .stateChanged, .sample, .openPairing, .setUpNetwork, .factoryReset: break
        }
    }

    private mutating func note(_ kind: PlugEvent.Kind) throws {
        switch kind {
        case .relayChanged(let on, let cause):
            try require(on != recordedOn, "the relay was already \(on), but \(cause) reports a change")
            recordedOn = on
            switch cause {
            case .button: presses.toggles += 1
            case .controller, .timer: wornAt.append(now)
            case .protection, .powerOn: break
            }
        case .buttonPressed(.single): presses.reported += 1
        case .buttonPressed(.double): presses.reported += 2
        case .buttonPressed(.long), .protectionTripped, .protectionReset, .restarted, .pairingFailed, .controllerPaired,
            .controllerRemoved:
            break
        }
    }

    private mutating func check() throws {
        let state = machine.state
        try require(state.relayOn == isClosed, "the line differs from the state")
        try require(recordedOn == isClosed, "the events differ from the line")
        try require(state.tripped == nil || !isClosed, "closed although \(state.tripped!) locks the relay")
        try require(answers == commands, "\(commands) commands, \(answers) answers")
        let known = machine.storedState.milliwattHours
        try require(known >= energy, "the energy decreased from \(energy) to \(known)")
        if known > (flash?.milliwattHours ?? 0), unsavedSince == nil { unsavedSince = now }
        energy = known
        wasFlashBroken = isFlashBroken || wasFlashBroken && machine.storedState != flash
        if let rate = configuration.switchingRate {
            wornAt.removeAll { now - $0 > rate.window }
            // The limit is the sum of a full bucket, its refill during the window, and the last switch to off, which
            // sets the lock. Resetting a lock fills the bucket again, so the limit does not apply after a reset.
            try require(
                resets > 0 || wornAt.count <= 2 * rate.count + 1, "\(wornAt.count) switches within \(rate.window)")
        }
    }

    var resets = 0

    func require(_ holds: Bool, _ promise: @autoclosure () -> String) throws {
        guard holds else { throw Broken(description: promise()) }
    }
}
