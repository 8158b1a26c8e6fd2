import PlugModel
import ProtocolCore

extension ApplianceMachine {
    /// Carries out a gesture of the button. With the child lock, only the factory reset has an effect, so that a user
    /// who has lost every controller can still recover the plug.
    mutating func obey(_ sign: ButtonGesture, _ now: Instant, _ actions: inout [Action]) {
        guard !configuration.isChildLocked || sign == .factoryReset else { return }
        switch sign {
        case .toggle: toggle(now, &actions)
        case .press(let press): actions.append(.record(.buttonPressed(press)))
        case .openPairing: actions.append(.openPairing)
        case .setUpNetwork: actions.append(.setUpNetwork)
        case .factoryReset: actions.append(.factoryReset)
        }
    }

    /// The user who presses the button is at the plug and sees its load, so the press also resets the protection.
    private mutating func toggle(_ now: Instant, _ actions: inout [Action]) {
        if tripped != nil {
            if resetProtection(cause: .button, &actions) { turnOn(.button, now, &actions) }
        } else if rest.delayed != nil {
            if !isLockedOn { rest.cancel() }
        } else if !relayOn {
            turnOn(.button, now, &actions)
        } else if !isLockedOn {
            _ = switchRelay(false, cause: .button, now, &actions)
        }
    }

    /// Turns the relay on, or schedules it for the end of the rest time.
    mutating func turnOn(_ start: DelayedStart, _ now: Instant, _ actions: inout [Action]) {
        if rest.left(now) != nil {
            tellRest(&actions)
            rest.delay(start)
        } else {
            _ = switchRelay(true, cause: start.cause, now, &actions)
        }
    }

    mutating func carryOut(
        _ command: PlugCommand, cause: RelayCause, _ now: Instant, _ actions: inout [Action]
    ) -> CommandAnswer {
        if let refusal = refusal(of: command, now) {
            if refusal.code == .resting { tellRest(&actions) }
            return .refused(refusal)
        }
        var changed = false
        switch command {
        case .setRelay(let on, let autoOff):
            changed = switchRelay(on, cause: cause, autoOff: autoOff, now, &actions)
        case .setLevel(let target, let duration):
            changed = setLevel(target, over: duration, cause: cause, now, &actions)
        case .identify:
            identifyUntil = now + Self.identifyTime
        case .resetProtection:
            changed = resetProtection(cause: cause, &actions)
        case .rename, .configure:
            preconditionFailure("PlugMachine carries out \(command)")
        }
        // The switching-rate guard refuses the switch that exceeds its limit, if that switch turns the relay on.
        if command.turnsOn, let refusal = trippedRefusal { return .refused(refusal) }
        return .done(state, recorded: changed)
    }

    /// Opens or closes the relay and records the change. Turning off ends a transition and cancels a delayed start.
    /// Turning on restarts the auto-off timer, even if the relay is already on.
    ///
    /// Before turning on, the caller must check that no protection is tripped and that the relay has rested.
    /// - Returns: True if the relay changed.
    mutating func switchRelay(
        _ on: Bool, cause: RelayCause, autoOff: Duration? = nil, _ now: Instant, _ actions: inout [Action]
    ) -> Bool {
        if !on { rest.cancel() }
        let isOneTooMany = on != relayOn && cause.wearsRelay && !switchingRate.take(now)
        if isOneTooMany, on {
            trip(.switchingRate, now, &actions)
            return false
        }
        let usual = isLockedOn ? nil : configuration.autoOff
        autoOffAt = on ? (autoOff ?? usual).map { now + $0 } : nil
        guard on != relayOn else { return false }
        relayOn = on
        guards.relayChanged()
        if on {
            // The dimmer is set first, so that a lamp does not flash at the previous level.
            if can(.dimmer) { actions.append(.part(.setDimmer(level))) }
            rest.end()
        } else {
            transition = nil
            level = restingLevel
            rest.begin(now)
        }
        actions.append(.part(.setRelay(on)))
        // An LED driver without a relay turns off only by level zero.
        if !on, can(.dimmer) { actions.append(.part(.setDimmer(.zero))) }
        actions.append(.record(.relayChanged(on: on, cause: cause)))
        if isOneTooMany { trip(.switchingRate, now, &actions) }
        return true
    }

    private mutating func tellRest(_ actions: inout [Action]) {
        if rest.tell() { actions.append(.record(.protectionTripped(.restTime))) }
    }

    var isLockedOn: Bool {
        switch configuration.powerOnState {
        case .lockedOn: true
        case .off, .on, .last: false
        }
    }
}

extension DelayedStart {
    var cause: RelayCause {
        switch self {
        case .button: .button
        case .powerOn: .powerOn
        }
    }
}

extension RelayCause {
    /// True for causes that can switch without limit and wear the relay: controllers and timers. The button is never
    /// refused, and protections always open the relay.
    fileprivate var wearsRelay: Bool {
        switch self {
        case .controller, .timer: true
        case .button, .protection, .powerOn: false
        }
    }
}
