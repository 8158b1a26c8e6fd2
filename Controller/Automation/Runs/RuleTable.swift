import PlugModel
import ProtocolCore
import RuleModel

/// The rules of an engine with their runtime state, by index and by name.
struct RuleTable: Sendable {
    private var states: [RuleState] = []
    private var indexes: [String: Int] = [:]
    /// The names of the rules that the user disabled. A name stays if its rule is removed.
    private(set) var disabled: Set<String> = []
    /// True if any rule restores a plug, or calls a script. The script may restore a plug.
    private(set) var mayRestore = false

    /// Creates the table. The rules must have different names.
    init(_ rules: [Rule]) { prepare(rules) }

    private mutating func prepare(_ rules: [Rule]) {
        precondition(Set(rules.map(\.name)).count == rules.count, "two rules of one engine share a name")
        states = rules.map { RuleState($0) }
        indexes = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.name, $0) })
        mayRestore = rules.contains { $0.actions.contains(where: \.mayRestore) }
        for (index, rule) in rules.enumerated() {
            for (place, trigger) in rule.triggers.enumerated() {
                guard case .rule(let name) = trigger, let cause = indexes[name] else { continue }
                states[cause].add(RuleState.Listener(rule: index, place: place))
            }
        }
    }

    var rules: [Rule] { states.map(\.rule) }

    subscript(index: Int) -> RuleState { _read { yield states[index] } }

    func index(of name: String) -> Int? { indexes[name] }

    /// Returns the words of a trigger, which identify it in the stored state.
    func words(of place: TriggerPlace) -> String { "\(states[place.rule].rule.triggers[place.place])" }

    /// Returns the cause of a firing by a trigger.
    func source(of place: TriggerPlace) -> Firing.Cause.Source { states[place.rule].sources[place.place] }

    /// Returns the seed of a trigger's firings.
    func seed(_ kind: String, _ place: TriggerPlace, _ plug: PlugTable.Plug, boot: BootID? = nil) -> FiringSeed {
        FiringSeed(kind, rule: states[place.rule].rule.name, trigger: place.place, plug: plug.lasting, boot: boot)
    }

    // MARK: Changes

    /// Replaces the rules. A rule that is equal to a previous one keeps its runtime state.
    ///
    /// - Returns: the new indexes of the kept rules, by their previous index.
    mutating func replace(_ rules: [Rule]) -> [Int: Int] {
        let old = states
        prepare(rules)
        var kept: [Int: Int] = [:]
        for (index, state) in old.enumerated() {
            guard let new = indexes[state.rule.name], states[new].rule == state.rule else { continue }
            kept[index] = new
            states[new].inherit(state)
        }
        for index in states.indices { states[index].enable(!disabled.contains(states[index].rule.name)) }
        return kept
    }

    /// Enables or disables a rule at the user's request. Returns the rule's index; nil if no such rule exists.
    mutating func enable(_ name: String, _ isOn: Bool) -> Int? {
        guard let index = indexes[name] else { return nil }
        states[index].enable(isOn)
        if isOn { disabled.remove(name) } else { disabled.insert(name) }
        return index
    }

    /// Finds the plugs of each action.
    mutating func bind(_ plugs: PlugTable) { for index in states.indices { states[index].bind(plugs) } }

    /// Records a firing for the cooldown and the rate limit.
    mutating func fired(_ index: Int, at now: Instant) { states[index].fired(at: now) }

    /// Returns true if a near miss of the rule may be reported, and then records its time.
    mutating func reportsMiss(_ index: Int, at now: Instant) -> Bool { states[index].reportsMiss(at: now) }

    // MARK: Memory

    /// The times of the firings that a cooldown or a rate limit still needs, by the name of the rule.
    func firings(at now: Instant) -> [String: [Instant]] {
        var fired: [String: [Instant]] = [:]
        for state in states {
            let instants = state.instants(at: now)
            if !instants.isEmpty { fired[state.rule.name] = instants }
        }
        return fired
    }

    mutating func restore(disabled: Set<String>, fired: [String: [Instant]]) {
        self.disabled = disabled
        for index in states.indices {
            let name = states[index].rule.name
            states[index].enable(!disabled.contains(name))
            for instant in fired[name] ?? [] { states[index].fired(at: instant) }
        }
    }
}

extension RuleAction {
    fileprivate var mayRestore: Bool {
        switch self {
        case .restore, .call: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .wake: false
        }
    }
}
