import Metering
import PlugModel
import ProtocolCore

extension ApplianceMachine {
    mutating func start(_ memory: ApplianceMemory, _ now: Instant, _ actions: inout [Action]) {
        let stored = memory.state ?? StoredState()
        keeper = StateKeeper(memory.inFlash ?? StoredState(), energy: stored.milliwattHours, now: now)
        // What lies between two measurements of the slowest meter counts.
        energy = EnergyCounter(
            milliwattHours: stored.milliwattHours, gapLimit: max(.seconds(30), configuration.shownLifetime))
        restingLevel = stored.level
        level = restingLevel
        tripped = stored.tripped
        actions.append(.record(.restarted(powerLost: memory.powerLost)))
        // What waits for the end of a rest is open, although it is to be on.
        let wasOn = stored.relayOn && memory.timers.delayed == nil && tripped == nil
        takePowerOnState(memory, isStillOn: wasOn && !isNewLife(memory), now, &actions)
        if can(.dimmer) { actions.append(.setDimmer(relayOn ? level : .zero)) }
        actions.append(.setRelay(relayOn))
        if relayOn != wasOn { actions.append(.record(.relayChanged(on: relayOn, cause: .powerOn))) }
        if relayOn, !isLockedOn { autoOffAt = memory.timers.autoOff ?? configuration.autoOff.map { now + $0 } }
        if hasSomethingToMeasure { requestMeasurement(now, &actions) }
    }

    /// One that was set back to factory state starts as one that is new.
    private func isNewLife(_ memory: ApplianceMemory) -> Bool { memory.powerLost || memory.state == nil }

    /// The relay as it has to be, or will be when its rest has ended.
    private mutating func takePowerOnState(
        _ memory: ApplianceMemory, isStillOn: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        let wantsOn =
            switch configuration.powerOnState {
            case .lockedOn: true
            case .off: isNewLife(memory) ? false : memory.state?.relayOn == true
            case .on: isNewLife(memory) ? true : memory.state?.relayOn == true
            case .last: memory.state?.relayOn == true
            }
        relayOn = isStillOn
        guard !relayOn else { return }
        if let since = memory.timers.offSince, !isNewLife(memory) {
            rest.restore(offSince: since, delayed: memory.timers.delayed, now: now)
        } else {
            // Nobody knows how long it has been without power: perhaps for the blink of an eye.
            rest.begin(now)
        }
        guard wantsOn, tripped == nil else { return rest.cancel() }
        if rest.left(now) == nil {
            relayOn = true
            rest.end()
        } else if rest.delayed == nil {
            turnOn(.powerOn, now, &actions)
        }
    }
}
