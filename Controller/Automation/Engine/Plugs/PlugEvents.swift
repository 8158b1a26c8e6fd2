import PlugModel
import ProtocolCore

extension RuleEngine {
    mutating func appear(
        _ name: String, _ state: PlugState, _ boot: BootID?, _ id: PlugID?, gap: Duration, now: Instant,
        _ actions: inout [Action]
    ) {
        // A snapshot without a preceding loss interrupts dwells like a loss.
        if let known = plugs.index(ofPresent: name) { interrupt(known) }
        let wasOn = plugs.index(of: name).map { plugs[$0].relayOn }
        guard let index = plugs.appear(name, state, boot: boot, id: id) else { return }
        while slots.count < plugs.count { slots.append(PlugSlot()) }
        slots[index].meter.hasReading = false
        slots[index].meter.gap = gap
        bind()
        plugsAppeared = true
        if let wasOn, !wasOn, state.relayOn { turnedOn(index) }
        if let reading = state.reading {
            settle(index, reading.activePower, time: reading.time, now: now, &actions)
        } else {
            refresh(index)
        }
        returned(index, now: now)
    }

    mutating func lose(_ name: String, now: Instant) {
        guard let index = plugs.index(ofPresent: name) else { return }
        interrupt(index)
        plugs.lose(index)
        slots[index].meter.closeBand()
        wentAway(index, now: now)
        bind()
    }

    /// Handles a reading that reports the present power, not a change.
    mutating func snapshot(
        _ index: Int, _ watts: Double, time: Instant, now: Instant, _ actions: inout [Action]
    ) {
        interrupt(index)
        settle(index, watts, time: time, now: now, &actions)
    }

    private mutating func interrupt(_ index: Int) {
        for trigger in slots[index].power { power[trigger].interrupt(plugs[index], slots[index].meter) }
        refresh(index)
    }

    /// Handles the present state of relay and dimmer.
    mutating func state(_ name: String, on: Bool, level: DimLevel?) {
        guard let index = plugs.index(ofPresent: name) else { return }
        state(index, on: on, level: level)
    }

    private mutating func state(_ index: Int, on: Bool, level: DimLevel?) {
        let wasOn = plugs[index].relayOn
        plugs[index].relayOn = on
        plugs[index].level = level
        if on, !wasOn { turnedOn(index) }
    }

    mutating func finished(_ name: String, _ id: RequestID, _ outcome: CommandOutcome) {
        guard let index = plugs.index(ofPresent: name) else { return }
        switch outcome {
        case .done(let result, _): state(index, on: result.relayOn, level: result.level)
        case .refused: break
        }
        plugs.answered(id.key, at: index)
    }

    mutating func happened(
        _ name: String, _ event: PlugEvent, age: Duration?, now: Instant, _ actions: inout [Action]
    ) {
        guard let index = plugs.index(ofPresent: name), plugs.isNews(event.sequence, from: index) else { return }
        if case .relayChanged(_, let cause) = event.kind {
            relaySwitched(index, cause: cause)
            if case .controller(_, let request, _) = cause { plugs.answered(request.key, at: index) }
        }
        var last: Int?
        for place in slots[index].events {
            // Copies only two fields, because a copy of the whole trigger would increment more reference counts.
            let (rule, seed) = (events[place].rule, events[place].seed)
            guard rule != last, events[place].kind.isMet(by: event.kind), let seed else { continue }
            last = rule
            var cause = Firing.Cause(
                states[rule].sources[events[place].place], plug: plugs[index].name, event: event.sequence)
            if let age, age > .zero { cause.age = age }
            fire(rule, cause, seed.key(event.sequence), age: age, now: now, &actions)
        }
    }
}
