import PlugModel
import ProtocolCore

/// Commands of one script that were not carried out.
struct CommandsHeldBack: Hashable, Sendable {
    /// Since they were told last.
    var count = 0
    /// When they may be told again; nil: at once.
    var next: Instant?
}

/// What scripts keep between their calls: timers that end, and commands that were too many.
extension HouseRules {
    /// Nothing is taken out for a script that is not there: its file may be broken, or the program that runs it be missing. What ended
    /// meanwhile is judged when it is back.
    mutating func findTimerDeadline() {
        let running = memory.scripts.filter { scripts.contains($0.name) }
        timerDeadline = nil
        for script in running {
            guard let end = script.timers.first?.end else { continue }
            let room = timerBudgets[script.name]?.next.flatMap { $0 > end ? $0 : nil }
            if room != nil, timersHeldBack[script.name] == nil { timersHeldBack[script.name] = end }
            timerDeadline = sooner(timerDeadline, room ?? end)
        }
        heldBackDeadline = (heldBack.values.compactMap(\.next) + timersHeldBack.values).min()
        keepingDeadline = memory.scripts.lazy.compactMap(\.until).min()
    }

    /// Timers that have run out, in the order in which they did. They are stored as gone together with what they fired. Of too many the last
    /// wait.
    mutating func endTimers(now: Instant, _ actions: inout [Action]) {
        guard assembly == nil, let due = timerDeadline, due <= now else { return }
        var ended: [(timer: ScriptTimer, entry: HouseMemory.Script.Timer)] = []
        for index in memory.scripts.indices {
            let script = memory.scripts[index]
            guard scripts.contains(script.name) else { continue }
            let due = script.timers.prefix { $0.end <= now }.count
            if due == 0 { continue }
            let count = timerBudgets[script.name, default: CommandBudget()].take(due, now: now)
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

    /// At once, and then once a minute what came to it.
    mutating func tellHeldBack(now: Instant, _ actions: inout [Action]) {
        for (script, due) in timersHeldBack.sorted(by: { $0.key < $1.key }) where due <= now {
            let count = memory.script(named: script)?.timers.prefix { $0.end <= now }.count ?? 0
            timersHeldBack[script] = count > 0 ? now + ScriptLimits.span : nil
            if count > 0 { actions.append(.tell(.timersHeldBack(script: script, count: count))) }
        }
        for (script, held) in heldBack.sorted(by: { $0.key < $1.key }) where held.next.map({ $0 <= now }) ?? true {
            if held.count == 0 {
                heldBack[script] = nil
            } else {
                actions.append(.tell(.commandsHeldBack(script: script, count: held.count)))
                heldBack[script] = CommandsHeldBack(next: now + ScriptLimits.span)
            }
        }
        heldBackDeadline = (heldBack.values.compactMap(\.next) + timersHeldBack.values).min()
    }

    /// These are the rules from now on. What is kept of scripts that are gone stays for ``ScriptLimits/keeping``.
    mutating func followScripts(now: Instant) {
        let present = Set(rules.lazy.flatMap(\.handlers).map(\.script))
        let gone = scripts.subtracting(present)
        scripts = present
        for script in gone { (heldBack[script], timersHeldBack[script], timerBudgets[script]) = (nil, nil, nil) }
        keepScripts(now: now)
        changed(now: now)
    }

    /// From when on a script is missed.
    mutating func keepScripts(now: Instant) {
        for index in memory.scripts.indices {
            let isThere = scripts.contains(memory.scripts[index].name)
            memory.scripts[index].until = isThere ? nil : memory.scripts[index].until ?? now + ScriptLimits.keeping
        }
        findTimerDeadline()
    }

    /// Nobody has missed them for so long.
    mutating func forgetScripts(now: Instant) {
        guard let due = keepingDeadline, due <= now else { return }
        memory.scripts.removeAll { $0.until.map { $0 <= now } ?? false }
        findTimerDeadline()
        changed(now: now)
    }
}
