import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

extension Rule {
    /// The rule that `on(...)` in a script creates.
    static func script(_ place: Int = 0, of script: String = "hall.lua", on triggers: Trigger...) -> Rule {
        Rule(
            name: "\(script):\(place + 1)", triggers: triggers,
            actions: [.call(ScriptHandler(script: script, index: place))])
    }

    /// The rule that calls the script's first function on a press of the hall's button.
    static let scripted = script(on: .button(plug: "Hall", .single))
    /// The rule that calls the script's second function at the end of the timer "lights out".
    static let timed = script(1, on: .timer(.lightsOut))
}

extension ScriptTimer {
    static let lightsOut = ScriptTimer(script: "hall.lua", name: "lights out")
}

extension ScriptAnswer {
    static func answer(
        _ actions: RuleAction..., timers: [TimerChange] = [], state: String? = nil, log: [String] = []
    ) -> ScriptAnswer {
        var answer = ScriptAnswer()
        (answer.actions, answer.timers, answer.state, answer.log) = (actions, timers, state, log)
        return answer
    }
}

extension VirtualHouse {
    var calls: [ScriptCall] {
        log.compactMap { _, action in
            guard case .call(let call) = action else { return nil }
            return call
        }
    }
}

extension HouseBench {
    var calls: [ScriptCall] { actions.compactMap { if case .call(let call, _) = $0 { call } else { nil } } }
    var withdrawn: [RequestID] { actions.compactMap { if case .withdraw(let id) = $0 { id } else { nil } } }

    /// The notices about calls, as text: `calling`, `called`, the reason of a failure, a line of a log, or the
    /// number of commands or timers that were held back.
    var callsTold: [String] {
        told.flatMap { notice -> [String] in
            switch notice {
            case .calling: ["calling"]
            case .called: ["called"]
            case .callFailed(_, let why): ["failed: \(why)"]
            case .scriptLogged(_, let lines): lines
            case .commandsHeldBack(let script, let count): ["\(script): \(count) held back"]
            case .timersHeldBack(let script, let count): ["\(script): \(count) wait"]
            case _: []
            }
        }
    }

    mutating func answer(_ call: ScriptCall, _ answer: ScriptAnswer, at seconds: Double) {
        feed(.callFinished(call.id, .answered(answer)), at: seconds)
    }

    /// A house with the hall's button and the lamp connected, and no pending stores.
    static func settled(_ rules: Rule..., memory: StoredRuleState = StoredRuleState(), at seconds: Double = 0)
        -> HouseBench
    {
        var bench = HouseBench(of: rules, memory: memory, at: seconds)
        for plug in ["Hall", "Lamp"] { bench.appear(plug, at: seconds) }
        bench.settle(at: seconds)
        _ = bench.done()
        return bench
    }

    /// Presses the button and lets all changes be stored. Returns the last call, if any.
    mutating func pressed(_ sequence: SequenceNumber, at seconds: Double) -> ScriptCall? {
        press("Hall", sequence, at: seconds)
        settle(at: seconds)
        return calls.last
    }

    /// Presses the button and returns the script's call.
    mutating func called(_ sequence: SequenceNumber, at seconds: Double) throws -> ScriptCall {
        let call = pressed(sequence, at: seconds)
        return try #require(call)
    }
}
