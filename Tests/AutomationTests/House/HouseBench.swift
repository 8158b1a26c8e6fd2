import Metering
import PlugModel
import ProtocolCore

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// A rule engine with its recorded actions. The test decides when a write ends.
struct HouseBench {
    static let ids = ["Hall": "aaaaaaaaaaaa", "Lamp": "bbbbbbbbbbbb", "Fan": "cccccccccccc"].mapValues {
        PlugID(rawValue: $0)!
    }
    static let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
    static let toggle = Rule.button(.toggle(["Lamp"]))

    var rules: DurableRuleEngine
    var actions: [DurableRuleAction] = []
    private var isWriting = false

    init(_ rules: Rule..., memory: StoredRuleState = StoredRuleState(), at seconds: Double = 0) {
        self.init(of: rules, memory: memory, at: seconds)
    }

    init(of rules: [Rule], memory: StoredRuleState = StoredRuleState(), at seconds: Double = 0) {
        self.rules = DurableRuleEngine(rules: rules, memory: memory, now: .at(seconds))
    }

    mutating func feed(_ event: DurableRuleEvent, at seconds: Double) {
        switch event {
        case .stored, .storeFailed: isWriting = false
        case _: break
        }
        let done = rules.handle(event, now: .at(seconds))
        isWriting = isWriting || done.contains { if case .store = $0 { true } else { false } }
        actions += done
    }

    mutating func appear(
        _ plug: String, on: Bool = false, at seconds: Double, id: PlugID? = nil, reading watts: Double? = nil
    ) {
        feed(.connected(plug: plug, id: id ?? Self.ids[plug]!, boot: Self.boot), at: seconds)
        feed(.snapshot(plug: plug, Self.state(on: on, watts, seconds)), at: seconds)
    }

    mutating func read(_ plug: String, _ watts: Double, at seconds: Double) {
        feed(.state(plug: plug, Self.state(on: true, watts, seconds)), at: seconds)
    }

    private static func state(on: Bool, _ watts: Double?, _ seconds: Double) -> PlugState {
        let reading = watts.map {
            Reading(time: .at(seconds), deciwatts: Int32(($0 * 10).rounded()), milliwattHours: 0)
        }
        return PlugState(relayOn: on, reading: reading)
    }

    mutating func press(
        _ plug: String, _ sequence: SequenceNumber, _ press: ButtonPress = .single, age: Duration? = .zero,
        at seconds: Double
    ) {
        let event = PlugEvent(sequence: sequence, boot: Self.boot, time: .at(seconds), kind: .buttonPressed(press))
        feed(.event(plug: plug, event, age: age), at: seconds)
    }

    /// Ends writes until nothing is left to store.
    mutating func settle(at seconds: Double) {
        feed(.stopping, at: seconds)
        while !rules.isStored {
            // Changes that the finished write did not contain may be due only later. A stop makes them due at once.
            feed(isWriting ? .stored : .stopping, at: seconds)
        }
    }

    /// Advances to a time. Handles each deadline until then and stores the resulting changes.
    mutating func run(to seconds: Double) {
        while let due = rules.nextDeadline, due <= .at(seconds) {
            feed(.deadlineReached, at: due.seconds)
            settle(at: due.seconds)
        }
    }

    mutating func done() -> [DurableRuleAction] {
        defer { actions = [] }
        return actions
    }

    var stored: [StoredRuleState] { actions.compactMap { if case .store(let memory) = $0 { memory } else { nil } } }
    var sent: [CommandRequest] { actions.compactMap { if case .send(let request) = $0 { request } else { nil } } }
    var told: [RuleNotice] { actions.compactMap { if case .tell(let notice) = $0 { notice } else { nil } } }
    var heldBack: [SequenceNumber?] {
        told.compactMap { if case .heldBack(let firing, _) = $0 { firing.cause.event } else { nil } }
    }
    var refusals: [Refusal] {
        told.compactMap { if case .command(_, .refused(let refusal)) = $0 { refusal } else { nil } }
    }
}
