import Appliance
import Metering
import PlugModel
import ProtocolCore
import Testing

/// Runs an `ApplianceMachine` in virtual time and logs all of its actions.
struct Bench {
    typealias Action = ApplianceMachine.Action

    var machine: ApplianceMachine
    var now = Instant.zero
    /// The actions of the machine, each with its time in milliseconds.
    var log: [(at: Int64, action: Action)] = []
    /// The active power of the load in tenths of a watt while the relay is closed. Each `readMeter` is answered with
    /// this power, or with 0 while the relay is open. If nil, the meter fails.
    var load: Int32? = 0
    /// False if `readMeter` is not answered because the test sends measurements itself.
    var isMetered = true
    private var random = SeededRandom(seed: 1)

    init(
        _ stored: StoredState? = nil, powerLost: Bool = true,
        _ adjust: (inout ApplianceConfiguration) -> Void = { _ in }
    ) {
        var configuration = ApplianceConfiguration()
        adjust(&configuration)
        machine = ApplianceMachine(configuration)
        feed(.started(ApplianceMemory(stored, powerLost: powerLost)))
    }

    mutating func feed(_ event: ApplianceMachine.ShellEvent) { feed(.shell(event)) }

    mutating func feed(_ event: ApplianceMachine.Event) {
        let actions = machine.handle(event, now: now)
        for action in actions {
            log.append((now.nanoseconds / 1_000_000, action))
        }
        // The load draws power only while the relay is closed.
        for case .part(.readMeter) in actions where isMetered {
            if let load {
                feed(.measured(Measurement(deciwatts: machine.state.relayOn ? load : 0)))
            } else {
                feed(.meterFailed)
            }
        }
    }

    /// Advances the time and wakes the machine exactly at its deadlines.
    mutating func run(for duration: Duration) {
        let end = now + duration
        var wakeups = 0
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            feed(.deadlineReached)
            wakeups += 1
            precondition(wakeups < 1_000_000, "The machine requested a million wake-ups.")
        }
        now = end
    }

    /// Changes the contact at the current time.
    mutating func edge(down: Bool) { feed(.buttonEdge(down: down, at: now)) }

    mutating func run(milliseconds: Int64) { run(for: .milliseconds(milliseconds)) }

    /// Presses and releases the contact without bounces.
    mutating func press(milliseconds: Int64) {
        edge(down: true)
        run(milliseconds: milliseconds)
        edge(down: false)
    }

    @discardableResult
    mutating func command(_ command: PlugCommand) -> CommandID {
        let request = CommandID(RequestID(drawnFrom: &random), of: .desk)
        feed(.command(request, controller: "kitchen", command))
        return request
    }

    mutating func forget() { log.removeAll() }

    /// The recorded events.
    var recorded: [PlugEvent.Kind] {
        log.compactMap { if case .record(let kind) = $0.action { kind } else { nil } }
    }

    /// The relay actions with their times: true closes the relay.
    var relay: [Timed<Bool>] {
        log.compactMap { if case .part(.setRelay(let on)) = $0.action { Timed($0.at, on) } else { nil } }
    }

    var light: [Timed<Bool>] {
        log.compactMap { if case .part(.setLight(let lit)) = $0.action { Timed($0.at, lit) } else { nil } }
    }

    var dimmer: [Timed<UInt16>] {
        log.compactMap {
            if case .part(.setDimmer(let level)) = $0.action { Timed($0.at, level.permille) } else { nil }
        }
    }

    var presses: [Timed<ButtonPress>] {
        log.compactMap { if case .record(.buttonPressed(let press)) = $0.action { Timed($0.at, press) } else { nil } }
    }

    var persisted: [Timed<StoredState>] {
        log.compactMap { if case .persist(let state) = $0.action { Timed($0.at, state) } else { nil } }
    }

    var states: [Timed<PlugState>] {
        log.compactMap { if case .stateChanged(let state) = $0.action { Timed($0.at, state) } else { nil } }
    }

    var answers: [ApplianceMachine.CommandAnswer] {
        log.compactMap { if case .commandDone(_, let answer) = $0.action { answer } else { nil } }
    }
}

extension Bench {
    /// Returns the refusal of the last command.
    func refusal() throws -> Refusal {
        guard case .refused(let refusal) = try #require(answers.last) else { throw NotRefused() }
        return refusal
    }

    private struct NotRefused: Error {}
}

/// A value with its time in milliseconds.
struct Timed<Value: Hashable>: Hashable {
    let at: Int64
    let value: Value

    init(_ at: Int64, _ value: Value) {
        self.at = at
        self.value = value
    }
}
