import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Builds the tables of states and triggers from the rules.
    mutating func prepare(_ rules: [Rule]) {
        precondition(Set(rules.map(\.name)).count == rules.count, "two rules of one engine share a name")
        states = rules.map { RuleState($0) }
        ruleIndexes = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.name, $0) })
        (power, events, energies, presence, schedules, appliances, timers) = ([], [], [], [], [], [], [:])
        needsBefores = false
        for (index, rule) in rules.enumerated() {
            for (place, trigger) in rule.triggers.enumerated() { add(trigger, rule: index, place: place) }
            needsBefores = needsBefores || rule.actions.contains(where: \.mayRestore)
        }
    }

    private mutating func add(_ trigger: Trigger, rule: Int, place: Int) {
        switch trigger {
        case .activePower(let plug, let threshold):
            power.append(PowerTrigger(rule: rule, place: place, written: plug, shape: .threshold(threshold)))
        case .activePowerStays(let plug, let band):
            power.append(PowerTrigger(rule: rule, place: place, written: plug, shape: .band(band)))
        case .activeEnergy(let plug, let threshold):
            let key = EngineMemory.key(rule: states[rule].rule.name, trigger: trigger)
            energies.append(EnergyTrigger(rule: rule, place: place, written: plug, threshold: threshold, key: key))
        case .button(let plug, let press): add(.button(press), plug, rule: rule, place: place)
        case .relay(let plug, let on): add(.relay(on: on), plug, rule: rule, place: place)
        case .protection(let plug, let protection): add(.protection(protection), plug, rule: rule, place: place)
        case .lost(let plug, let dwell):
            presence.append(PresenceTrigger(rule: rule, place: place, written: plug, isLost: true, dwell: dwell))
        case .back(let plug, let dwell):
            presence.append(PresenceTrigger(rule: rule, place: place, written: plug, isLost: false, dwell: dwell))
        case .appliance(let plug, let change):
            let index =
                appliances.firstIndex { $0.written.lowercased() == plug.lowercased() }
                ?? {
                    appliances.append(WatchedAppliance(written: plug))
                    return appliances.count - 1
                }()
            let seed = FiringSeed("appliance", rule: states[rule].rule.name, trigger: place, plug: plug)
            appliances[index].triggers.append(
                AppliancePlugTrigger(rule: rule, place: place, change: change, seed: seed))
        case .schedule(let schedule):
            let seed = FiringSeed("schedule", rule: states[rule].rule.name, trigger: place)
            schedules.append(ScheduleTrigger(rule: rule, place: place, schedule: schedule, seed: seed))
        case .rule(let name):
            guard let cause = ruleIndexes[name] else { return }
            // A rule that names the same rule in several triggers becomes a listener only once, so it fires once.
            guard !states[cause].listeners.contains(where: { $0.rule == rule }) else { return }
            states[cause].listeners.append(RuleState.Listener(rule: rule, place: place))
        case .timer(let timer): timers[timer, default: []].append(TimerTrigger(rule: rule, place: place))
        }
    }

    private mutating func add(_ kind: EventTrigger.Kind, _ plug: String, rule: Int, place: Int) {
        events.append(EventTrigger(rule: rule, place: place, written: plug, kind: kind))
    }

    // MARK: Other rules

    /// Replaces the rules. A rule that is equal to a previous one keeps its runtime state; the runs of all other rules
    /// end. A new trigger does not treat the present state as an edge.
    mutating func replace(_ rules: [Rule], now: Instant, _ actions: inout [Action]) {
        let old = self
        prepare(rules)
        var kept: [Int: Int] = [:]
        for (index, state) in old.states.enumerated() {
            guard let new = ruleIndexes[state.rule.name], states[new].rule == state.rule else { continue }
            kept[index] = new
            states[new].take(state)
        }
        for run in runs where kept[run.rule] == nil { actions.append(.step(run.firing, .cancelled(.ruleChanged))) }
        runs = runs.compactMap { run in
            kept[run.rule].map { rule in
                var run = run
                run.rule = rule
                return run
            }
        }
        waitingFor = runs.count { $0.condition != nil }
        takeTriggers(of: old, kept)
        forgetEnergies()
        for index in states.indices { states[index].isDisabled = disabled.contains(states[index].rule.name) }
        dwelling = []
        dwellDeadline = nil
        bind()
        for index in 0..<plugs.count where plugs[index].isPresent && slots[index].meter.hasReading {
            let meter = slots[index].meter
            for trigger in slots[index].power where power[trigger].detector.state == .unknown {
                _ = power[trigger].settle(meter.activePower, time: meter.time, of: plugs[index])
            }
        }
        for place in schedules.indices where schedules[place].next == nil { findNext(place, after: judgedUntil ?? now) }
        findScheduleDeadline()
        findPresenceDeadline()
        findRunDeadline()
    }

    private mutating func takeTriggers(of old: RuleEngine, _ kept: [Int: Int]) {
        func places<Trigger>(_ triggers: [Trigger], _ key: (Trigger) -> Place) -> [Place: Trigger] {
            var places: [Place: Trigger] = [:]
            for trigger in triggers {
                let place = key(trigger)
                if let rule = kept[place.rule] { places[Place(rule: rule, place: place.place)] = trigger }
            }
            return places
        }
        let oldPower = places(old.power) { Place(rule: $0.rule, place: $0.place) }
        for index in power.indices {
            guard let before = oldPower[Place(rule: power[index].rule, place: power[index].place)] else { continue }
            power[index].plug = before.plug
            power[index].take(before)
        }
        let oldPresence = places(old.presence) { Place(rule: $0.rule, place: $0.place) }
        for index in presence.indices {
            let before = oldPresence[Place(rule: presence[index].rule, place: presence[index].place)]
            if let before { presence[index].take(before) }
        }
        let oldSchedules = places(old.schedules) { Place(rule: $0.rule, place: $0.place) }
        for index in schedules.indices {
            let before = oldSchedules[Place(rule: schedules[index].rule, place: schedules[index].place)]
            (schedules[index].next, schedules[index].judged) = (before?.next, before?.judged)
        }
        // The state of an appliance belongs to the plug's written name. It is kept even if other rules watch the plug
        // now.
        for index in appliances.indices {
            let before = old.appliances.first { $0.written.lowercased() == appliances[index].written.lowercased() }
            if let before { appliances[index].take(before) }
        }
    }

    private struct Place: Hashable {
        var rule: Int
        var place: Int
    }

    /// Enables or disables a rule at the user's request.
    mutating func enable(_ name: String, _ isOn: Bool, _ actions: inout [Action]) {
        guard let index = ruleIndexes[name] else { return }
        states[index].isDisabled = !isOn
        if isOn {
            disabled.remove(name)
        } else {
            disabled.insert(name)
            cancelRuns(of: index, .disabled, &actions)
        }
    }
}

extension RuleAction {
    fileprivate var mayRestore: Bool {
        switch self {
        case .restore, .call: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .wait, .waitUntil, .notify, .run, .webHook: false
        }
    }
}
