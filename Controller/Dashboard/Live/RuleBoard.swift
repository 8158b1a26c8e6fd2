import Automation
import Daemon
import DequeModule
import LinuxSystem
import PlugModel
import Presentation
import RuleModel

/// The state of each rule: its last firings, faults and pending actions.
struct RuleBoard: Hashable, Sendable {
    /// A firing that the history may not have written yet.
    struct RecentFiring: Hashable, Sendable {
        /// Milliseconds since 1970.
        let milliseconds: Int64
        let record: FiringRecord
    }

    /// The maximum number of recent firings: more than arrive in the seconds before the history writes.
    static let recentLimit = 128

    /// The maximum number of pending firings that are counted per rule. The rule engine permits 64, and in mode
    /// `queued` one more.
    static let runningLimit = 64

    /// The rules, in the order of their files.
    private(set) var records: [RuleStateRecord]
    private(set) var faults: [RuleFaultRecord] = []
    private(set) var heldBack: [String: UInt64] = [:]
    private(set) var nearMisses: [String: UInt64] = [:]
    private(set) var logs = ScriptLogs()
    private(set) var recent: Deque<RecentFiring> = []
    /// The pending firings of each rule.
    private var running: [String: Set<RequestID>] = [:]
    /// The reason why the rules' state cannot be stored in its regular file, even if a reserve file holds it; nil while
    /// it can be stored there.
    private(set) var storeFault: String?

    /// The rules with mode `single`: at most one firing runs at a time.
    private var single: Set<String> = []

    init(_ rules: [Rule] = []) {
        records = rules.map(RuleStateRecord.init)
        single = Self.single(of: rules)
    }

    private static func single(of rules: [Rule]) -> Set<String> {
        Set(rules.filter { $0.mode == .single }.map(\.name))
    }

    /// Sets the last firing of rules that have not fired in this process.
    @discardableResult mutating func begin(_ last: [FiringRecord]) -> [StreamMessage] {
        let before = records
        for firing in last {
            guard let index = records.firstIndex(where: { $0.rule == firing.rule }), records[index].firings == 0 else {
                continue
            }
            (records[index].lastFiring, records[index].lastCause) = (firing.at, firing.why)
        }
        let changed = zip(before, records).filter { $0 != $1 }.map(\.1)
        return changed.isEmpty ? [] : [.rules(changed)]
    }

    /// Replaces the rules. The state of a rule is kept under its name, even if the rule changed.
    mutating func replace(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) -> [StreamMessage] {
        let before = (records, self.faults)
        let known = Dictionary(records.map { ($0.rule, $0) }) { first, _ in first }
        let faulty = faults.flatMap { fault in fault.rules.map { ($0, fault.words) } }
        let words = Dictionary(faulty) { first, _ in first }
        records = rules.map { rule in
            var record = RuleStateRecord(rule)
            if let old = known[rule.name] { record.takeHistory(of: old) }
            record.enabled = !disabled.contains(rule.name)
            record.fault = words[rule.name]
            return record
        }
        let names = Set(rules.map(\.name))
        heldBack = heldBack.filter { names.contains($0.key) }
        nearMisses = nearMisses.filter { names.contains($0.key) }
        running = running.filter { names.contains($0.key) }
        logs.keep(Set(records.compactMap(\.script)))
        single = Self.single(of: rules)
        self.faults = faults.map { RuleFaultRecord(file: $0.path, words: $0.words, rules: $0.rules) }
        guard before != (records, self.faults) else { return [] }
        return [.ruleSet(RuleSetRecord(rules: records, faults: self.faults))]
    }

    /// Finds a rule by its name. A name that differs only in case is accepted if it is unique.
    func rule(named name: String) -> RuleStateRecord? {
        if let rule = records.first(where: { $0.rule == name }) { return rule }
        let near = records.filter { $0.rule.lowercased() == name.lowercased() }
        return near.count == 1 ? near[0] : nil
    }

    mutating func note(_ record: RunnerRecord) -> [StreamMessage] {
        let told = RuleRecord(record)
        logs.note(record) { [records] rule in records.first { $0.rule == rule }?.script }
        let changed = handle(record, told)
        let notification = told.notification.map { [StreamMessage.notification($0)] } ?? []
        let scripts = takeScript(record)
        let all = (changed.map { [$0] } ?? []) + scripts
        return [.rule(told)] + notification + (all.isEmpty ? [] : [.rules(all)])
    }

    /// - Returns: the rules of the affected script whose state changed.
    private mutating func takeScript(_ record: RunnerRecord) -> [RuleStateRecord] {
        switch record.notice {
        case .scriptEnded(let script, let why, let restartsIn):
            let starts = restartsIn.map { (record.at + $0).iso8601() }
            return records.filter { $0.script == script }.compactMap { rule in
                change(rule.rule) { ($0.scriptFault, $0.scriptStarts) = (why, starts) }
            }
        case .scriptRuns(let script):
            return records.filter { $0.script == script }.compactMap { rule in
                change(rule.rule) { ($0.scriptFault, $0.scriptStarts) = (nil, nil) }
            }
        case .following, .lost, .gap, .renamed, .firing, .heldBack, .notSent, .nearMiss, .commanded, .performing,
            .remembered,
            .step,
            .effect, .ruleEnabled, .rulesChanged, .fileBroken, .fileSound, .resumed, .command, .notStored,
            .storedInReserve, .stored,
            .calling, .called,
            .scriptLogged, .callFailed, .commandsHeldBack, .timersHeldBack, .recordsLeftOut:
            return []
        }
    }

    /// - Returns: the rule if its state changed.
    private mutating func handle(_ record: RunnerRecord, _ told: RuleRecord) -> RuleStateRecord? {
        switch record.notice {
        case .firing(let firing):
            let fired = FiringRecord(at: told.at, rule: firing.rule, plug: told.plug, why: told.why ?? "")
            recent.append(RecentFiring(milliseconds: record.at.milliseconds, record: fired))
            if recent.count > Self.recentLimit { recent.removeFirst() }
            // A rule with mode `single` fires only after its previous firing has ended, even if no notice reported the
            // end.
            let hasEnded = single.contains(firing.rule)
            if hasEnded { running[firing.rule] = nil }
            return change(firing.rule) { state in
                state.firings += 1
                if hasEnded { state.running = 0 }
                (state.lastFiring, state.lastCause) = (told.at, told.why)
            }
        case .heldBack(let firing, let reason):
            if runs(firing.rule) { heldBack[firing.rule, default: 0] += 1 }
            return change(firing.rule) { state in
                (state.lastHeldBack, state.heldBackBecause) = (told.at, "\(reason)")
            }
        case .nearMiss(let miss):
            if runs(miss.rule) { nearMisses[miss.rule, default: 0] += 1 }
            return change(miss.rule) { state in (state.lastNearMiss, state.nearMissBecause) = (told.at, told.why) }
        case .step(let firing, let step): return go(on: firing, step)
        case .ruleEnabled(let rule, let isOn): return change(rule) { $0.enabled = isOn }
        case .callFailed(let call, let reason):
            return change(call.firing.rule) { ($0.lastFailure, $0.failedBecause) = (told.at, reason) }
        case .notStored(let reason), .storedInReserve(let reason): storeFault = reason
        case .stored: storeFault = nil
        case .following, .lost, .gap, .renamed, .notSent, .resumed, .command, .commanded, .performing, .remembered,
            .effect,
            .rulesChanged, .fileBroken, .fileSound, .calling, .called, .scriptLogged, .commandsHeldBack,
            .timersHeldBack, .scriptEnded,
            .scriptRuns, .recordsLeftOut:
            break
        }
        return nil
    }

    private mutating func go(on firing: Firing, _ step: RunStep) -> RuleStateRecord? {
        guard runs(firing.rule) else { return nil }
        var waiting = running[firing.rule] ?? []
        switch step {
        case .waiting, .waitingFor: if waiting.count < Self.runningLimit { waiting.insert(firing.id) }
        case .timedOut(.goOn), .nothingToRestore: break
        case .timedOut(.stop), .finished, .cancelled: waiting.remove(firing.id)
        }
        running[firing.rule] = waiting.isEmpty ? nil : waiting
        return change(firing.rule) { $0.running = waiting.count }
    }

    /// Returns true if the rule still exists. Notices of removed rules are not counted.
    private func runs(_ rule: String) -> Bool { records.contains { $0.rule == rule } }

    private mutating func change(_ rule: String, _ body: (inout RuleStateRecord) -> Void) -> RuleStateRecord? {
        guard let index = records.firstIndex(where: { $0.rule == rule }) else { return nil }
        let before = records[index]
        body(&records[index])
        return records[index] == before ? nil : records[index]
    }
}

extension RuleStateRecord {
    fileprivate init(_ rule: Rule) {
        self.init(
            rule: rule.name, when: rule.triggers.map { "\($0)" }, conditions: rule.conditions.map { "\($0)" },
            actions: rule.actions.map { "\($0)" })
        if case .call(let handler) = rule.actions.first { script = handler.script }
    }

    /// Copies the runtime state of a rule, not its definition.
    fileprivate mutating func takeHistory(of old: RuleStateRecord) {
        (firings, running) = (old.firings, old.running)
        (lastFiring, lastCause) = (old.lastFiring, old.lastCause)
        (lastHeldBack, heldBackBecause) = (old.lastHeldBack, old.heldBackBecause)
        (lastNearMiss, nearMissBecause) = (old.lastNearMiss, old.nearMissBecause)
        (lastFailure, failedBecause) = (old.lastFailure, old.failedBecause)
        (scriptFault, scriptStarts) = (old.scriptFault, old.scriptStarts)
    }
}
