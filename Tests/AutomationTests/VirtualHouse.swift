import Automation
import Metering
import PlugProtocol
import ProtocolCore

/// Runs an engine in virtual time: deadlines are met exactly, and every action is kept with its time.
struct VirtualHouse {
    var engine: RuleEngine
    private(set) var now: Instant
    private(set) var log: [(time: Instant, action: RuleEngineAction)] = []

    init(_ rules: Rule..., start: Duration = .zero) {
        engine = RuleEngine(rules: rules)
        now = .zero + start
    }

    /// Lets time pass to a moment, in seconds, with the deadlines before it.
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

    // MARK: - Events of one plug whose clock runs with the controller's

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
        at(seconds, .buttonPressed(plug: plug, press: press, sequence: sequence, age: age))
    }

    // MARK: - What came out

    /// `SECONDS RULE` of every firing.
    var firings: [String] {
        log.compactMap { time, action in
            guard case .fired(let firing) = action else { return nil }
            return "\(time.seconds) \(firing.rule)"
        }
    }

    var requests: [CommandRequest] {
        log.compactMap { _, action in
            guard case .send(let request) = action else { return nil }
            return request
        }
    }
}

extension Instant {
    static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64((seconds * 1e9).rounded())) }

    var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension Rule {
    /// Television above 40 W turns the amplifier on.
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
