import PlugModel
import ProtocolCore
import RuleModel

/// Ends timers of scripts, reports commands and timers beyond the rate limit, and discards data of missing scripts.
extension DurableRuleEngine {
    /// Finds the next end of a timer. Timers of a script that is not loaded end only when the script returns: its file
    /// may be invalid, or the script host may be missing.
    mutating func findTimerDeadline() {
        let running = memory.scripts.filter { scripts.contains($0.name) }
        timerDeadline = nil
        for script in running {
            guard let end = script.timers.first?.end else { continue }
            timerDeadline = sooner(timerDeadline, limits.end(ofTimerDue: end, of: script.name))
        }
        limits.findDeadline()
        keepingDeadline = memory.scripts.lazy.compactMap(\.until).min()
    }

    /// Ends the timers that have run out, in order. Their removal is stored together with the firings. Timers beyond
    /// the rate limit wait.
    mutating func endTimers(now: Instant, _ actions: inout [Action]) {
        guard assembly == nil, let due = timerDeadline, due <= now else { return }
        var ended: [(timer: ScriptTimer, entry: StoredRuleState.Script.Timer)] = []
        for index in memory.scripts.indices {
            let script = memory.scripts[index]
            guard scripts.contains(script.name) else { continue }
            let due = script.timers.prefix { $0.end <= now }.count
            if due == 0 { continue }
            let count = limits.takeTimers(due, of: script.name, now: now)
            if count == 0 { continue }
            ended += script.timers[..<count].map { (ScriptTimer(script: script.name, name: $0.name), $0) }
            memory.scripts[index].timers.removeFirst(count)
        }
        ended.sort { ($0.entry.end, $0.timer.script, $0.timer.name) < ($1.entry.end, $1.timer.script, $1.timer.name) }
        findTimerDeadline()
        if ended.isEmpty { return }
        changed(now: now)
        for (timer, entry) in ended {
            run(.timerEnded(timer, startedBy: entry.startedBy, age: now - entry.end), now: now, &actions)
        }
    }

    /// Reports commands and timers beyond the rate limit: at once, then once per minute.
    mutating func reportHeldBack(now: Instant, _ actions: inout [Action]) {
        let memory = memory
        let notices = limits.notices(now: now) { script in
            memory.script(named: script)?.timers.prefix { $0.end <= now }.count ?? 0
        }
        actions += notices.map { .tell($0) }
    }

    /// Handles a change of the rules. The data of scripts that are no longer loaded is kept for
    /// ``ScriptLimits/keeping``.
    mutating func followScripts(now: Instant) {
        let present = Set(rules.lazy.flatMap(\.handlers).map(\.script))
        let gone = scripts.subtracting(present)
        scripts = present
        for script in gone { limits.forget(script) }
        keepScripts(now: now)
        changed(now: now)
    }

    /// Sets the time at which the data of missing scripts is discarded.
    mutating func keepScripts(now: Instant) {
        for index in memory.scripts.indices {
            let isThere = scripts.contains(memory.scripts[index].name)
            memory.scripts[index].until = isThere ? nil : memory.scripts[index].until ?? now + ScriptLimits.keeping
        }
        findTimerDeadline()
    }

    /// Discards the data of scripts that have been missing for ``ScriptLimits/keeping``.
    mutating func forgetScripts(now: Instant) {
        guard let due = keepingDeadline, due <= now else { return }
        memory.scripts.removeAll { $0.until.map { $0 <= now } ?? false }
        findTimerDeadline()
        changed(now: now)
    }
}
