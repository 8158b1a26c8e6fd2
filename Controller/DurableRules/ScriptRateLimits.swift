import ProtocolCore
import RuleModel

/// The rate limits of scripts, and the notices about commands and timers beyond them: one at once, then at most one per
/// ``ScriptLimits/span``.
struct ScriptRateLimits: Sendable {
    /// The commands and effects of one script beyond its limit.
    private struct HeldBack: Sendable {
        /// The number since the last notice.
        var count = 0
        /// The earliest time of the next notice; nil if a notice may be sent now.
        var next: Instant?
    }

    /// The commands beyond the limit, by script.
    private var commands: [String: HeldBack] = [:]
    /// The times of the next notice about waiting timers, by script.
    private var timers: [String: Instant] = [:]
    /// The limits of ended timers, by script.
    private var budgets: [String: CommandBudget] = [:]
    /// The time of the next notice.
    private(set) var deadline: Instant?

    /// Forgets a script that is no longer loaded.
    mutating func forget(_ script: String) { (commands[script], timers[script], budgets[script]) = (nil, nil, nil) }

    /// Finds the time of the next notice, after the limits changed.
    mutating func findDeadline() { deadline = (commands.values.compactMap(\.next) + timers.values).min() }

    /// Returns the time at which a timer ends that is due at `end`. It is later if the script's limit is reached, and a
    /// notice is then due at `end`.
    mutating func end(ofTimerDue end: Instant, of script: String) -> Instant {
        guard let room = budgets[script]?.next, room > end else { return end }
        if timers[script] == nil { timers[script] = end }
        return room
    }

    /// Takes up to `count` ends of timers from the script's limit. Returns the number that is allowed.
    mutating func takeTimers(_ count: Int, of script: String, now: Instant) -> Int {
        budgets[script, default: CommandBudget()].take(count, now: now)
    }

    /// Records commands beyond the limit.
    mutating func holdBack(_ count: Int, of script: String) { commands[script, default: HeldBack()].count += count }

    /// Returns the notices that are due.
    ///
    /// - Parameter waiting: returns the number of a script's timers that are due.
    mutating func notices(now: Instant, waiting: (String) -> Int) -> [RuleNotice] {
        var notices: [RuleNotice] = []
        for (script, due) in timers.sorted(by: { $0.key < $1.key }) where due <= now {
            let count = waiting(script)
            timers[script] = count > 0 ? now + ScriptLimits.span : nil
            if count > 0 { notices.append(.timersHeldBack(script: script, count: count)) }
        }
        for (script, held) in commands.sorted(by: { $0.key < $1.key }) where held.next.map({ $0 <= now }) ?? true {
            if held.count == 0 {
                commands[script] = nil
            } else {
                notices.append(.commandsHeldBack(script: script, count: held.count))
                commands[script] = HeldBack(next: now + ScriptLimits.span)
            }
        }
        findDeadline()
        return notices
    }
}
