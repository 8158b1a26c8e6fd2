import Automation
import Daemon
import DequeModule
import LinuxNetwork
import Presentation

/// What the rules did, as far as it is known.
struct RuleBoard: Hashable, Sendable {
    /// A firing that the history may not have written yet.
    struct RecentFiring: Hashable, Sendable {
        /// Since 1970.
        let milliseconds: Int64
        let record: FiringRecord
    }

    /// More than happen in the seconds that a write waits.
    static let recentLimit = 128

    /// In the order of their files.
    private(set) var records: [RuleStateRecord]
    private(set) var heldBack: [String: UInt64] = [:]
    private(set) var recent: Deque<RecentFiring> = []
    /// Why the rules' memory cannot be stored; nil while it can.
    private(set) var storeFault: String?

    init(_ rules: [Rule] = []) {
        records = rules.map { rule in
            RuleStateRecord(
                rule: rule.name, when: rule.triggers.map { "\($0)" }, conditions: rule.conditions.map { "\($0)" },
                actions: rule.actions.map { "\($0)" })
        }
    }

    /// What happened before this process.
    mutating func begin(_ last: [FiringRecord]) {
        for firing in last {
            guard let index = records.firstIndex(where: { $0.rule == firing.rule }), records[index].firings == 0 else {
                continue
            }
            (records[index].lastFiring, records[index].lastCause) = (firing.at, firing.why)
        }
    }

    mutating func note(_ record: RunnerRecord) -> [StreamMessage] {
        let told = RuleRecord(record)
        var changed: RuleStateRecord?
        switch record.notice {
        case .firing(let firing):
            changed = change(firing.rule) { state in
                state.firings += 1
                (state.lastFiring, state.lastCause) = (told.at, told.why)
            }
            let fired = FiringRecord(at: told.at, rule: firing.rule, plug: told.plug, why: told.why ?? "")
            recent.append(RecentFiring(milliseconds: record.at.milliseconds, record: fired))
            if recent.count > Self.recentLimit { recent.removeFirst() }
        case .heldBack(let firing, let reason):
            heldBack[firing.rule, default: 0] += 1
            changed = change(firing.rule) { state in
                (state.lastHeldBack, state.heldBackBecause) = (told.at, "\(reason)")
            }
        case .notStored(let reason): storeFault = reason
        case .stored: storeFault = nil
        case .following, .lost, .gap, .notSent, .resumed, .command, .nearMiss, .commanded, .performing, .remembered, .step, .effect, .ruleEnabled,
            .rulesChanged:
            break
        }
        return [.rule(told)] + (changed.map { [.rules([$0])] } ?? [])
    }

    private mutating func change(_ rule: String, _ body: (inout RuleStateRecord) -> Void) -> RuleStateRecord? {
        guard let index = records.firstIndex(where: { $0.rule == rule }) else { return nil }
        body(&records[index])
        return records[index]
    }
}
