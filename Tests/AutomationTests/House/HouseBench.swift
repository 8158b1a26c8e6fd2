import PlugProtocol
import ProtocolCore

@testable import Automation

/// Rules, and what they asked for; the test says when a write has ended.
struct HouseBench {
    static let ids = ["Hall": "aaaaaaaaaaaa", "Lamp": "bbbbbbbbbbbb", "Fan": "cccccccccccc"].mapValues {
        PlugID(rawValue: $0)!
    }
    private static let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
    static let toggle = Rule.button(.toggle(["Lamp"]))

    var rules: HouseRules
    var actions: [HouseRulesAction] = []

    init(_ rules: Rule..., memory: HouseMemory = HouseMemory(), at seconds: Double = 0) {
        self.rules = HouseRules(rules: rules, memory: memory, now: .at(seconds))
    }

    mutating func feed(_ event: HouseRulesEvent, at seconds: Double) {
        actions += rules.handle(event, now: .at(seconds))
    }

    mutating func appear(_ plug: String, on: Bool = false, at seconds: Double, id: PlugID? = nil) {
        feed(.connected(plug: plug, id: id ?? Self.ids[plug]!, boot: Self.boot), at: seconds)
        feed(.snapshot(plug: plug, PlugState(relayOn: on)), at: seconds)
    }

    mutating func press(_ plug: String, _ sequence: SequenceNumber, age: Duration? = .zero, at seconds: Double) {
        let event = PlugEvent(
            sequence: sequence, boot: Self.boot, time: .at(seconds), kind: .buttonPressed(.single))
        feed(.event(plug: plug, event, age: age), at: seconds)
    }

    /// Ends writes until nothing is to be stored.
    mutating func settle(at seconds: Double) {
        feed(.stopping, at: seconds)
        while !rules.isStored { feed(.stored, at: seconds) }
    }

    mutating func done() -> [HouseRulesAction] {
        defer { actions = [] }
        return actions
    }

    var stored: [HouseMemory] { actions.compactMap { if case .store(let memory) = $0 { memory } else { nil } } }
    var sent: [CommandRequest] { actions.compactMap { if case .send(let request) = $0 { request } else { nil } } }
    var told: [HouseNotice] { actions.compactMap { if case .tell(let notice) = $0 { notice } else { nil } } }
    var heldBack: [SequenceNumber?] {
        told.compactMap { if case .heldBack(let firing, _) = $0 { firing.cause.event } else { nil } }
    }
    var refusals: [Refusal] {
        told.compactMap { if case .command(_, .refused(let refusal)) = $0 { refusal } else { nil } }
    }
}
