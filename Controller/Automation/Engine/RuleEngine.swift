import PlugProtocol
public import ProtocolCore

/// Runs rules: what happens at the plugs goes in, firings and commands come out.
///
/// Only an edge that the engine itself saw fires a rule. The first reading after its start, after a plug appeared or
/// returned, or of another boot of the plug, a snapshot, and an event older than ``maximumAge`` (or of unknown age) arm or
/// disarm triggers and update what is known; they never fire.
///
/// Plugs are found by the name as the rule writes it, else by the one present plug whose name differs in capitals only.
/// When a rule fires, its conditions are judged once, in that moment, and its commands follow in the order of its actions.
/// One event fires a rule once, however many of its triggers it meets.
public struct RuleEngine: Machine, Sendable {
    public typealias Event = RuleEngineEvent
    public typealias Action = RuleEngineAction

    /// Longer silence than this interrupts a dwell. It is to be longer than the interval at which plugs report.
    public static let readingGap = Duration.seconds(5)
    /// An event older than this is history, not an occasion to act.
    public static let maximumAge = Duration.seconds(5)
    /// Plugs remembered by name; further ones are ignored. It stops a network of ever new names from filling the memory.
    public static let maximumPlugs = 1024
    /// Of a rule that says nothing of its own: stops rules that set each other off without end.
    public static let usualLimit = FiringLimit(60, within: .seconds(60))

    public let rules: [Rule]

    var plugs = PlugTable()
    var localTime: LocalTime?
    /// By rule.
    var lastFired: [Instant?]
    var powerTriggers: [PowerTrigger] = []
    var buttonTriggers: [ButtonTrigger] = []
    private var earliestDwell: Instant?

    /// A trigger with the index of its rule, and of the plug that it listens to now; nil while there is none.
    struct PowerTrigger: Sendable {
        let rule: Int
        /// Its place among the rule's triggers.
        let place: Int
        let writtenPlug: String
        var plug: Int?
        var threshold: ThresholdTrigger
    }

    struct ButtonTrigger: Sendable {
        let rule: Int
        let writtenPlug: String
        let press: ButtonPress
    }

    /// The rules' names must differ from each other.
    ///
    /// - Parameter lastFired: by rule's name, for the cooldowns of an earlier engine to go on; names without a rule are ignored.
    public init(rules: [Rule], lastFired: [String: Instant] = [:]) {
        precondition(Set(rules.map(\.name)).count == rules.count, "two rules of one engine share a name")
        self.rules = rules
        self.lastFired = rules.map { lastFired[$0.name] }
        for (index, rule) in rules.enumerated() {
            for (place, trigger) in rule.triggers.enumerated() {
                switch trigger {
                case .activePower(let plug, let threshold):
                    powerTriggers.append(
                        PowerTrigger(
                            rule: index, place: place, writtenPlug: plug, threshold: ThresholdTrigger(threshold)))
                case .button(let plug, let press):
                    buttonTriggers.append(ButtonTrigger(rule: index, writtenPlug: plug, press: press))
                case .activePowerStays, .activeEnergy, .relay, .lost, .back, .protection, .appliance, .schedule, .rule:
                    break
                }
            }
        }
    }

    /// The end of the first dwell, or of the silence that it can bear.
    public var nextDeadline: Instant? { earliestDwell }

    /// When the rules fired whose cooldown is not over, by name.
    public func coolingDown(at now: Instant) -> [String: Instant] {
        var cooling: [String: Instant] = [:]
        for (rule, last) in zip(rules, lastFired) {
            if let last, now < last + rule.cooldown { cooling[rule.name] = last }
        }
        return cooling
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .rulesChanged, .ruleEnabled, .ruleRun, .energy, .recorded: return []
        case .plugAppeared(let plug, let state, let boot, let id, _):
            appear(plug, state, boot, id)
            return []
        case .plugLost(let plug):
            lose(plug)
            return []
        case .reading(let plug, let activePower, let time, let isSnapshot):
            return read(plug, activePower, time: time, isSnapshot: isSnapshot, now: now)
        case .state(let plug, let on, _):
            plugs.relay(plug, on: on)
            return []
        case .happened(let plug, let event, let age): return happened(plug, event, age: age, now: now)
        case .gap(let plug, let last):
            plugs.gap(plug, to: last)
            return []
        case .commandResumed(let request):
            plugs.expect(request)
            return []
        case .commandFinished(let plug, let id, let outcome):
            plugs.commandFinished(plug, id: id, outcome: outcome)
            return []
        case .clockChanged(let time, _):
            localTime = time
            return []
        case .deadlineReached:
            return endDwells(now: now)
        }
    }
}

// MARK: - Edges

extension RuleEngine {
    private mutating func appear(_ plug: String, _ state: PlugState, _ boot: BootID?, _ id: PlugID?) {
        guard let index = plugs.appear(plug, state, boot: boot, id: id) else { return }
        bind()
        for trigger in powerTriggers.indices where powerTriggers[trigger].plug == index {
            powerTriggers[trigger].threshold.forget()
            if let reading = state.reading { powerTriggers[trigger].threshold.settle(reading.activePower) }
        }
        findEarliestDwell()
    }

    private mutating func lose(_ plug: String) {
        plugs.lose(plug)
        bind()
        findEarliestDwell()
    }

    /// Finds each trigger's plug among those present. A trigger that changes its plug forgets what it knew.
    private mutating func bind() {
        for trigger in powerTriggers.indices {
            let plug = plugs.find(powerTriggers[trigger].writtenPlug).index
            if plug != powerTriggers[trigger].plug {
                powerTriggers[trigger].plug = plug
                powerTriggers[trigger].threshold.forget()
            }
        }
    }

    private mutating func read(
        _ plug: String, _ activePower: Double, time: Instant, isSnapshot: Bool, now: Instant
    ) -> [Action] {
        // A value that is no number compares with nothing.
        guard !activePower.isNaN, let index = plugs.index(ofPresent: plug) else { return [] }
        let last = plugs[index].lastReading
        // The same reading again, which came along with another change of state, says nothing new.
        if last == time, !isSnapshot { return [] }
        plugs[index].lastReading = time
        // Time that runs backwards belongs to another boot.
        let isComparable = !isSnapshot && last.map { $0 < time } ?? true
        var edges: [(trigger: Int, ThresholdTrigger.Edge)] = []
        var deadlinesMoved = false
        for trigger in powerTriggers.indices where powerTriggers[trigger].plug == index {
            let before = powerTriggers[trigger].threshold.deadline
            if isComparable {
                if let edge = powerTriggers[trigger].threshold.follow(activePower, time: time, now: now) {
                    edges.append((trigger, edge))
                }
            } else {
                powerTriggers[trigger].threshold.settle(activePower)
            }
            if before != powerTriggers[trigger].threshold.deadline { deadlinesMoved = true }
        }
        if deadlinesMoved { findEarliestDwell() }
        return edges.isEmpty ? [] : fire(edges, now: now)
    }

    private mutating func endDwells(now: Instant) -> [Action] {
        guard let earliestDwell, earliestDwell <= now else { return [] }
        var edges: [(trigger: Int, ThresholdTrigger.Edge)] = []
        for trigger in powerTriggers.indices {
            guard let edge = powerTriggers[trigger].threshold.deadlineReached(now: now) else { continue }
            edges.append((trigger, edge))
        }
        findEarliestDwell()
        return fire(edges, now: now)
    }

    /// Edges of one event, in the order of the rules.
    private mutating func fire(_ edges: [(trigger: Int, ThresholdTrigger.Edge)], now: Instant) -> [Action] {
        var actions: [Action] = []
        var last: Int?
        for (index, edge) in edges where powerTriggers[index].rule != last {
            let trigger = powerTriggers[index]
            last = trigger.rule
            guard let plug = trigger.plug else { preconditionFailure("an edge without a plug") }
            let cause = Firing.Cause(
                .trigger(rules[trigger.rule].triggers[trigger.place]), plug: plugs[plug].name, value: edge.value)
            let origin = RequestOrigin.reading(
                plug: plugs[plug].lasting, boot: plugs[plug].boot, time: edge.since, trigger: trigger.place)
            actions += fire(trigger.rule, cause, origin, now: now)
        }
        return actions
    }

    private mutating func happened(_ plug: String, _ event: PlugEvent, age: Duration?, now: Instant) -> [Action] {
        guard let index = plugs.index(ofPresent: plug), plugs.isNews(event.sequence, from: index) else { return [] }
        switch event.kind {
        case .relayChanged(_, cause: .controller(_, let request)): plugs.commandRecorded(plug, id: request)
        case _: break
        }
        guard case .buttonPressed(let press) = event.kind else { return [] }
        var actions: [Action] = []
        var last: Int?
        for trigger in buttonTriggers
        where trigger.press == press && trigger.rule != last && plugs.find(trigger.writtenPlug).index == index {
            last = trigger.rule
            let cause = Firing.Cause(
                .trigger(.button(plug: trigger.writtenPlug, press)), plug: plug, event: event.sequence)
            let origin = RequestOrigin.event(plug: plugs[index].lasting, event.sequence)
            guard let age, age <= Self.maximumAge else {
                let id = RequestID(origin, rule: rules[trigger.rule].name, position: -1)
                let firing = Firing(id: id, rule: rules[trigger.rule].name, cause: cause, time: now)
                actions.append(.heldBack(firing, .old(age: age)))
                continue
            }
            actions += fire(trigger.rule, cause, origin, now: now)
        }
        return actions
    }

    private mutating func findEarliestDwell() {
        earliestDwell = powerTriggers.lazy.compactMap(\.threshold.deadline).min()
    }
}
