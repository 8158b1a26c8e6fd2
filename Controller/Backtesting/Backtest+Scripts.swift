import Automation
import DurableRules
import PlugModel
import ProtocolCore
import RuleModel

/// Calls scripts, performs their actions in the virtual house at once, and runs their timers in virtual time.
extension Backtest {
    mutating func call(_ call: ScriptCall, at time: Int64) -> [RuleEngineAction] {
        // Without scripts, only the firing is reported, and the call has no result.
        guard let scripts else { return [] }
        settle(through: time)
        switch scripts.call(call, plugs: engine.views, at: time) {
        case .failed(let why, let log):
            say(log, call.firing, at: time)
            fail(call, why, at: time)
            return []
        case .answered(let answer):
            say(answer.log, call.firing, at: time)
            let running = timers.keys.filter { $0.script == call.handler.script }.map(\.name)
            if let fault = answer.fault(running: running) {
                scripts.refused(call.handler.script)
                fail(call, fault, at: time)
                return []
            }
            for change in answer.timers {
                let timer = ScriptTimer(script: call.handler.script, name: change.name)
                timers[timer] = change.delay.map { delay in
                    RunningTimer(due: time.adding(ScriptLimits.timer(delay)), startedBy: call.id)
                }
            }
            var budget = budgets[call.handler.script] ?? CommandBudget()
            let (actions, heldBack) = budget.take(answer.actions, now: Self.instant(time))
            budgets[call.handler.script] = budget
            report.counts[call.firing.rule]?.commandsHeldBack += heldBack
            for action in actions { meet(action, at: time) }
            return engine.handle(.scriptAnswered(call, actions), now: Self.instant(time))
        }
    }

    /// The timer that ends next, and its end in milliseconds since 1970; nil without a running timer. Timers that end
    /// at the same time are sorted by script and name.
    var nextTimer: (timer: ScriptTimer, at: Int64)? {
        timers.min { ($0.value.due, $0.key.script, $0.key.name) < ($1.value.due, $1.key.script, $1.key.name) }
            .map { ($0.key, $0.value.due) }
    }

    mutating func endTimer(_ timer: ScriptTimer, at time: Int64) {
        guard let ended = timers.removeValue(forKey: timer) else { return }
        var budget = timerBudgets[timer.script] ?? CommandBudget()
        let mayEnd = budget.take(1, now: Self.instant(time)) > 0
        timerBudgets[timer.script] = budget
        if !mayEnd, let next = budget.next {
            timers[timer] = RunningTimer(
                due: time.adding(Self.instant(time).duration(to: next)), startedBy: ended.startedBy)
            return
        }
        let event = RuleEngineEvent.timerEnded(timer, startedBy: ended.startedBy, age: .zero)
        perform(engine.handle(event, now: Self.instant(time)), at: time)
    }

    private mutating func fail(_ call: ScriptCall, _ why: String, at time: Int64) {
        report.counts[call.firing.rule]?.failures += 1
        note(.callFailed(call, why), call.firing, at: time)
    }

    private mutating func say(_ log: [String], _ firing: Firing, at time: Int64) {
        if !log.isEmpty { note(.scriptLogged(firing, log), firing, at: time) }
    }

    /// Adds the plugs of a script's action that the virtual house does not contain yet. They are present and on. A lamp
    /// that the script dims gets a dimmer.
    private mutating func meet(_ action: RuleAction, at time: Int64) {
        for written in action.plugs {
            let name = relays.keys.filter { $0.lowercased() == written.lowercased() }.min() ?? written
            if relays[name] == nil { setUpUnrecorded(name, PastHouse.Wanted(), at: time) }
            guard action.isDimming, var relay = relays[name], relay.level == nil else { continue }
            relay.level = DimLevel(percent: 100)
            relays[name] = relay
            let state = RuleEngineEvent.state(plug: name, on: relay.on, level: relay.level)
            perform(engine.handle(state, now: Self.instant(time)), at: time)
        }
    }
}

/// A running timer of a script.
struct RunningTimer: Sendable {
    /// The end in milliseconds since 1970.
    var due: Int64
    var startedBy: RequestID
}
