import PlugModel
import ProtocolCore

extension RuleEngine {
    /// The present state for the next process.
    public var memory: EngineMemory {
        var memory = EngineMemory()
        for state in states {
            let instants = state.instants(at: latest)
            if !instants.isEmpty { memory.fired[state.rule.name] = instants }
        }
        memory.dwells = dwells
        memory.runs = runs.map { run in
            let actions = states[run.rule].rule.actionsFingerprint
            return EngineMemory.Run(firing: run.firing, actions: actions, next: run.next, until: run.until)
        }
        memory.savedStates = savedStates.values.sorted { $0.plug < $1.plug }
        memory.energies = energyMarks
        for trigger in schedules {
            guard let number = trigger.judged else { continue }
            let rule = states[trigger.rule].rule
            memory.occurrences.append(
                EngineMemory.Occurrence(rule: rule.name, trigger: "\(rule.triggers[trigger.place])", number: number))
        }
        memory.disabled = disabled
        memory.judgedUntil = judgedUntil.map { max($0, latest) }
        return memory
    }

    private var dwells: [EngineMemory.Dwell] {
        power.compactMap { trigger in
            if case .dwelling(let since) = trigger.detector.state, let plug = trigger.plug {
                let rule = states[trigger.rule].rule
                return EngineMemory.Dwell(
                    rule: rule.name, trigger: "\(rule.triggers[trigger.place])", plug: plugs[plug].lasting,
                    boot: plugs[plug].boot, since: since, latest: slots[plug].meter.time,
                    value: slots[plug].meter.activePower)
            }
            guard let broken = trigger.broken,
                trigger.plug.map({ trigger.isBroken(plugs[$0], slots[$0].meter) }) ?? true
            else { return nil }
            let rule = states[trigger.rule].rule
            return EngineMemory.Dwell(
                rule: rule.name, trigger: "\(rule.triggers[trigger.place])", plug: broken.plug, boot: broken.boot,
                since: broken.since, latest: broken.latest, value: broken.value)
        }
    }

    private var energyMarks: [EngineMemory.EnergyMark] {
        var marks = storedMarks.values.flatMap { $0 }
        for index in 0..<plugs.count {
            for (period, mark) in slots[index].counter.marks {
                marks.append(
                    EngineMemory.EnergyMark(
                        plug: plugs[index].lasting, period: period, number: mark.number,
                        milliwattHours: mark.milliwattHours, fired: mark.fired, known: mark.known))
            }
        }
        return marks.sorted { ($0.plug, $0.period.rawValue) < ($1.plug, $1.period.rawValue) }
    }

    // MARK: Restoring

    /// Restores the state of an earlier engine, as far as its rules still exist.
    mutating func restore(_ memory: EngineMemory) {
        disabled = memory.disabled
        for index in states.indices {
            let name = states[index].rule.name
            states[index].isDisabled = disabled.contains(name)
            for instant in memory.fired[name] ?? [] { states[index].fired(at: instant) }
        }
        judgedUntil = memory.judgedUntil
        aliveBefore = memory.judgedUntil
        for dwell in memory.dwells { take(dwell) }
        for mark in memory.energies { storedMarks[mark.plug, default: []].append(mark) }
        forgetEnergies()
        for before in memory.savedStates { savedStates[before.plug] = before }
        for occurrence in memory.occurrences {
            guard let rule = ruleIndexes[occurrence.rule] else { continue }
            for place in schedules.indices where schedules[place].rule == rule {
                let words = "\(states[rule].rule.triggers[schedules[place].place])"
                if words == occurrence.trigger { schedules[place].judged = occurrence.number }
            }
        }
        for run in memory.runs { take(run) }
    }

    private mutating func take(_ dwell: EngineMemory.Dwell) {
        guard let rule = ruleIndexes[dwell.rule], let boot = dwell.boot else { return }
        for place in power.indices where power[place].rule == rule {
            guard "\(states[rule].rule.triggers[power[place].place])" == dwell.trigger else { continue }
            power[place].broken = PowerTrigger.Broken(
                plug: dwell.plug, boot: boot, since: dwell.since, latest: dwell.latest, value: dwell.value)
        }
    }

    private mutating func take(_ stored: EngineMemory.Run) {
        let wait: Run.Wait?
        if let rule = ruleIndexes[stored.firing.rule], runs.count < Self.maximumRuns,
            states[rule].rule.actionsFingerprint == stored.actions
        {
            wait = stored.wait(in: states[rule].rule.actions)
            if let wait {
                var run = Run(number: nextRun, rule: rule, firing: stored.firing, next: stored.next, wait: wait)
                run.isRestored = true
                return add(run)
            }
        }
        told.append(.step(stored.firing, .cancelled(.ruleChanged)))
    }
}

extension EngineMemory.Run {
    /// Returns the wait at the stored place; nil if the actions have no such wait.
    fileprivate func wait(in actions: [RuleAction]) -> Run.Wait? {
        guard let until else { return next == 0 ? .turn : nil }
        guard actions.indices.contains(next) else { return nil }
        switch actions[next] {
        case .wait: return .time(until)
        case .waitUntil(let condition, _, let end): return .condition(condition, until: until, end)
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .call: return nil
        }
    }
}
