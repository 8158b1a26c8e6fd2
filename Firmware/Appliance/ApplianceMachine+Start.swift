import Metering
import PlugModel
import ProtocolCore

extension ApplianceMachine {
    mutating func start(_ memory: ApplianceMemory, _ now: Instant, _ actions: inout [Action]) {
        let stored = memory.state ?? StoredState()
        keeper = StateKeeper(memory.inFlash ?? StoredState(), energy: stored.milliwattHours, now: now)
        // The gap limit covers two measurements of the slowest meter.
        energy = EnergyCounter(
            milliwattHours: stored.milliwattHours, gapLimit: max(.seconds(30), configuration.shownLifetime))
        restingLevel = stored.level
        level = restingLevel
        tripped = stored.tripped
        actions.append(.record(.restarted(powerLost: memory.powerLost)))
        // A relay that waits for the end of its rest time is open, although the stored state is on.
        let wasOn = stored.relayOn && memory.timers.delayed == nil && tripped == nil
        takePowerOnState(memory, isStillOn: wasOn && !isNewLife(memory), now, &actions)
        if can(.dimmer) { actions.append(.part(.setDimmer(relayOn ? level : .zero))) }
        actions.append(.part(.setRelay(relayOn)))
        if relayOn != wasOn { actions.append(.record(.relayChanged(on: relayOn, cause: .powerOn))) }
        if relayOn, !isLockedOn { autoOffAt = memory.timers.autoOff ?? configuration.autoOff.map { now + $0 } }
        if hasSomethingToMeasure { requestMeasurement(now, &actions) }
    }

    /// True after a loss of power, after a factory reset, and on a new plug.
    private func isNewLife(_ memory: ApplianceMemory) -> Bool { memory.powerLost || memory.state == nil }

    /// Sets the relay as the power-on state requires, or schedules that for the end of the rest time.
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
            // The time without power is unknown and may have been a fraction of a second, so the rest time begins now.
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
