import PlugModel
import ProtocolCore

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// The processes of two scripts, as pure functions of a call and the state: one airs a room, and the other counts. The
/// processes die during calls, and functions of the counting script fail.
struct FaultyScripts {
    static let air = "air.lua"
    static let count = "count.lua"
    static let wait = Duration.seconds(20)

    /// Rules that turn the fan on at a press, and off at the end of the timer that the press started.
    static let airing: [Rule] = [
        .script(0, of: air, on: .button(plug: "Switch", .single)),
        .script(1, of: air, on: .timer(ScriptTimer(script: air, name: "air"))),
        .script(2, of: air, on: .relay(plug: "Fan", on: nil)),
    ]
    static let counting: [Rule] = [
        .script(0, of: count, on: .button(plug: "Switch", .single)),
        .script(1, of: count, on: .rule("\(air):1")),
    ]

    var failed: Set<RequestID> = []
    /// The state of each script's process. A process without an entry starts with the stored state.
    private var states: [String: String] = [:]
    private var underWay: [String: (id: RequestID, ask: Int)] = [:]
    /// The number of the last call that was started, including repeated calls.
    private(set) var lastAsk = 0

    /// Starts a call. Returns false if another call of the script is running.
    mutating func begin(_ call: ScriptCall) -> Bool {
        lastAsk += 1
        defer { underWay[call.handler.script] = (call.id, lastAsk) }
        return underWay[call.handler.script] == nil
    }

    func isUnderWay(_ ask: Int) -> Bool { underWay.values.contains { $0.ask == ask } }

    mutating func hear(_ event: DurableRuleEvent) {
        guard case .callFinished(let id, _) = event, let script = script(of: id) else { return }
        underWay[script] = nil
    }

    /// Withdraws a call, which ends the script's process.
    mutating func withdraw(_ id: RequestID) {
        guard let script = script(of: id) else { return }
        underWay[script] = nil
        states[script] = nil
    }

    mutating func endAll() {
        underWay = [:]
        states = [:]
    }

    private func script(of id: RequestID) -> String? { underWay.first { $0.value.id == id }?.key }

    /// Runs a call. Returns nil if the process died before it answered.
    mutating func run(
        _ call: ScriptCall, stored: String?, isCalm: Bool, _ random: inout SeededRandom
    ) -> ScriptOutcome? {
        let script = call.handler.script
        if !isCalm, random.chance(0.15) {
            states[script] = nil
            return nil
        }
        if !isCalm, script == Self.count, random.chance(0.1) { return .failed("count.lua:3: no number", log: ["3"]) }
        var answer = ScriptAnswer()
        let state = (states[script] ?? stored).map { $0 + " " } ?? ""
        answer.state = state + "\(call.handler.index):\(call.id.hexadecimal)"
        answer.log = ["\(call.handler.index)"]
        switch (script, call.handler.index) {
        case (Self.air, 0):
            answer.actions = [.turnOn(["Fan"])]
            answer.timers = [.init(name: "air", delay: Self.wait)]
        case (Self.air, 1): answer.actions = [.turnOff(["Fan"])]
        case _: break
        }
        states[script] = answer.state
        // The process dies after it has computed the answer.
        if !isCalm, random.chance(0.1) {
            states[script] = nil
            return nil
        }
        return .answered(answer)
    }
}
