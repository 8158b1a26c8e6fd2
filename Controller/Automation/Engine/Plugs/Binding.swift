import PlugModel
import ProtocolCore

extension RuleEngine {
    /// Finds the plug of each trigger among the present plugs. A trigger whose plug changes forgets its state.
    mutating func bind() {
        for index in slots.indices { slots[index].unbind() }
        for place in power.indices {
            let plug = plugs.find(power[place].written).index
            if plug != power[place].plug { power[place].detector.forget() }
            power[place].plug = plug
            guard let plug else { continue }
            let trigger = power[place]
            // The seed contains the boot, because the plug's clock starts again at each boot.
            power[place].seed = seed("power", trigger.rule, trigger.place, plug, boot: plugs[plug].boot)
            slots[plug].power.append(place)
        }
        for place in events.indices {
            events[place].plug = plugs.find(events[place].written).index
            guard let plug = events[place].plug else { continue }
            events[place].seed = seed("event", events[place].rule, events[place].place, plug)
            slots[plug].events.append(place)
        }
        for place in energies.indices {
            energies[place].plug = plugs.find(energies[place].written).index
            guard let plug = energies[place].plug else { continue }
            energies[place].seed = seed("energy", energies[place].rule, energies[place].place, plug)
            slots[plug].energies.append(place)
        }
        for place in presence.indices {
            // An absent plug remains the plug of its triggers.
            guard let plug = plugs.find(presence[place].written).index, plug != presence[place].plug else { continue }
            presence[place].plug = plug
            presence[place].cancel()
            presence[place].wasLost = false
        }
        for place in appliances.indices {
            guard let plug = plugs.find(appliances[place].written).index else { continue }
            if let old = appliances[place].plug, old != plug { appliances[place].sense = .init() }
            appliances[place].plug = plug
            if slots[plug].appliance == nil { slots[plug].appliance = place }
        }
        for rule in states.indices {
            let actions = states[rule].rule.actions
            states[rule].targets = actions.map { action in action.plugs.map { plugs.find($0).index } }
        }
        // Triggers without a plug have no dwell.
        dwelling = dwelling.filter { power[$0].plug != nil }
        findDwellDeadline()
        quietBandsNeedRefresh = true
    }

    private func seed(_ kind: String, _ rule: Int, _ place: Int, _ plug: Int, boot: BootID? = nil) -> FiringSeed {
        FiringSeed(kind, rule: states[rule].rule.name, trigger: place, plug: plugs[plug].lasting, boot: boot)
    }
}
