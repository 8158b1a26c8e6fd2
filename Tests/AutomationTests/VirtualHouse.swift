import Automation
import HouseCalendar
import Metering
import PlugModel
import ProtocolCore
import RuleModel

/// Runs an engine in virtual time. Deadlines are met exactly, and every action is recorded with its time.
struct VirtualHouse {
    var engine: RuleEngine
    private(set) var now: Instant
    private(set) var log: [(time: Instant, action: RuleEngineAction)] = []

    init(_ rules: Rule..., start: Duration = .zero) {
        self.init(rules, start: start)
    }

    init(_ rules: [Rule], start: Duration = .zero) {
        engine = RuleEngine(rules: rules)
        now = .zero + start
    }

    /// Advances to a time in seconds, and handles the deadlines up to it.
    mutating func run(to seconds: Double) {
        let end = Instant.at(seconds)
        while let deadline = engine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            perform(.deadlineReached)
        }
        now = max(now, end)
    }

    mutating func at(_ seconds: Double, _ event: RuleEngineEvent) {
        run(to: seconds)
        perform(event)
    }

    private mutating func perform(_ event: RuleEngineEvent) {
        log += engine.handle(event, now: now).map { (now, $0) }
    }

    // MARK: - Events of one plug whose clock equals the controller's

    mutating func appear(_ plug: String, on: Bool = true, watts: Double? = nil, at seconds: Double, boot: BootID? = nil)
    {
        let reading = watts.map {
            Reading(time: .at(seconds), deciwatts: Int32(($0 * 10).rounded()), milliwattHours: 0)
        }
        at(seconds, .plugAppeared(plug: plug, state: PlugState(relayOn: on, reading: reading), boot: boot))
    }

    mutating func read(_ plug: String, _ watts: Double, at seconds: Double, isSnapshot: Bool = false) {
        at(seconds, .reading(plug: plug, activePower: watts, time: .at(seconds), isSnapshot: isSnapshot))
    }

    mutating func press(
        _ plug: String, _ sequence: UInt64, _ press: ButtonPress = .single, age: Duration? = .zero, at seconds: Double
    ) {
        happened(plug, sequence, .buttonPressed(press), age: age, at: seconds)
    }

    mutating func happened(
        _ plug: String, _ sequence: UInt64, _ kind: PlugEvent.Kind, age: Duration? = .zero, at seconds: Double
    ) {
        let event = PlugEvent(sequence: sequence, boot: .first, time: .at(seconds), kind: kind)
        at(seconds, .happened(plug: plug, event, age: age))
    }

    mutating func turn(_ plug: String, on: Bool, level: DimLevel? = nil, at seconds: Double) {
        at(seconds, .state(plug: plug, on: on, level: level))
    }

    /// Sets the local time of day at instant zero. The date there is Thursday, 1 January 1970.
    mutating func clock(_ hour: Int, _ minute: Int = 0, sun: SunTimes = .unknown, at seconds: Double = 0) {
        let offset = Int64(hour * 3600 + minute * 60)
        at(seconds, .clockChanged(LocalTime(pieces: [.init(from: Instant(nanoseconds: .min), offset: offset)]), sun))
    }

    /// Restarts with the same or other rules and the stored memory; no plug is connected yet.
    mutating func restart(_ rules: [Rule]? = nil) {
        engine = RuleEngine(rules: rules ?? engine.rules, memory: engine.memory)
    }

    // MARK: - Output

    /// `SECONDS RULE` of every firing.
    var firings: [String] {
        log.compactMap { time, action in
            guard case .fired(let firing) = action else { return nil }
            return "\(time.seconds) \(firing.rule)"
        }
    }

    /// `SECONDS RULE: REASON` of every firing that was held back.
    var heldBack: [String] {
        log.compactMap { time, action in
            guard case .heldBack(let firing, let reason) = action else { return nil }
            return "\(time.seconds) \(firing.rule): \(reason)"
        }
    }

    var nearMisses: [NearMiss] {
        log.compactMap { _, action in
            guard case .nearMiss(let miss) = action else { return nil }
            return miss
        }
    }

    /// `SECONDS STEP` of every reported step of a run.
    var steps: [String] {
        log.compactMap { time, action in
            guard case .step(_, let step) = action else { return nil }
            return "\(time.seconds) \(step)"
        }
    }

    /// `SECONDS PLUG: COMMAND` of every command.
    var commands: [String] {
        log.compactMap { time, action in
            guard case .send(let request, _) = action else { return nil }
            return "\(time.seconds) \(request.plug): \(request.command.words)"
        }
    }

    var effects: [EffectRequest] {
        log.compactMap { _, action in
            guard case .effect(let request) = action else { return nil }
            return request
        }
    }

    var requests: [CommandRequest] {
        log.compactMap { _, action in
            guard case .send(let request, _) = action else { return nil }
            return request
        }
    }
}

extension BootID {
    static let first = BootID(bytes: Array(repeating: 1, count: 16))!
    static let second = BootID(bytes: Array(repeating: 2, count: 16))!
}

extension PlugCommand {
    fileprivate var words: String {
        switch self {
        case .setRelay(let on, let autoOff):
            (on ? "on" : "off") + (autoOff.map { " for \($0.inSeconds) s" } ?? "")
        case .setLevel(let level, _): "\(level.percent) %"
        case .identify, .resetProtection, .rename, .configure: "something else"
        }
    }
}

extension Instant {
    static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64((seconds * 1e9).rounded())) }

    var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension Rule {
    /// Returns a rule that turns the amplifier on when the television's power crosses the threshold, by default when it
    /// rises above 40 W.
    static func television(
        _ direction: PowerThreshold.Direction = .risesAbove, _ watts: Double = 40, dwell: Duration = .zero,
        hysteresis: Double? = nil, if conditions: [Condition] = [], cooldown: Duration = .zero
    ) -> Rule {
        Rule(
            name: "Movie night",
            triggers: [
                .activePower(
                    plug: "Television",
                    PowerThreshold(direction, watts: watts, dwell: dwell, hysteresis: hysteresis))
            ],
            conditions: conditions, actions: [.turnOn(["Amplifier"])], cooldown: cooldown)
    }

    static func button(
        press: ButtonPress = .single, if conditions: [Condition] = [], _ actions: RuleAction...,
        cooldown: Duration = .zero
    ) -> Rule {
        Rule(
            name: "By button", triggers: [.button(plug: "Hall", press)], conditions: conditions, actions: actions,
            cooldown: cooldown)
    }
}
