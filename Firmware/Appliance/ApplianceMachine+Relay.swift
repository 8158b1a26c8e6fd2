import PlugProtocol
import ProtocolCore

extension ApplianceMachine {
    /// The longest transition and the longest auto-off; beyond them somebody mistook the unit.
    static let longestTransition = Duration.seconds(3600)
    static let longestAutoOff = Duration.seconds(30 * 24 * 3600)

    mutating func obey(_ sign: ButtonSign, _ now: Instant, _ actions: inout [Action]) {
        switch sign {
        case .toggle:
            // Whoever presses stands before the plug and sees what it feeds: the press also resets the protection.
            protection.reset()
            _ = switchRelay(!relayOn, cause: .button, now, &actions)
        case .press(let press):
            actions.append(.record(.buttonPressed(press)))
        case .factoryReset:
            actions.append(.factoryReset)
        }
    }

    mutating func carryOut(
        _ command: PlugCommand, cause: RelayCause, _ now: Instant, _ actions: inout [Action]
    ) -> CommandAnswer {
        if let refusal = refusal(of: command) { return .refused(refusal) }
        var changed = false
        switch command {
        case .setRelay(let on, let autoOff):
            if !on { protection.reset() }
            changed = switchRelay(on, cause: cause, autoOff: autoOff, now, &actions)
        case .setLevel(let target, let duration):
            changed = setLevel(target, over: duration, cause: cause, now, &actions)
        case .identify:
            identifyUntil = now + Self.identifyTime
        case .resetProtection:
            protection.reset()
        }
        return .done(state, recorded: changed)
    }

    /// Opens or closes the relay and records it. Turning off ends a transition; turning on, also when it is on already,
    /// sets the auto-off timer anew.
    /// - Returns: whether the relay changed.
    mutating func switchRelay(
        _ on: Bool, cause: RelayCause, autoOff: Duration? = nil, _ now: Instant, _ actions: inout [Action]
    ) -> Bool {
        autoOffAt = on ? (autoOff ?? configuration.autoOff).map { now + $0 } : nil
        guard on != relayOn else { return false }
        relayOn = on
        if on {
            // The dimmer first, so that a lamp does not flash at the level before.
            if can(.dimmer) { actions.append(.setDimmer(level)) }
        } else {
            transition = nil
            level = restingLevel
        }
        actions.append(.setRelay(on))
        actions.append(.record(.relayChanged(on: on, cause: cause)))
        return true
    }

    private func refusal(of command: PlugCommand) -> Refusal? {
        switch command {
        case .setRelay(let on, let autoOff):
            if !can(.relay) {
                return Refusal(.unsupported, "This plug has no relay, so it cannot be turned on or off.")
            }
            if let autoOff, autoOff <= .zero || autoOff > Self.longestAutoOff {
                return Refusal(.outOfRange, "Auto-off takes a time above zero and up to 30 days.")
            }
            return on ? trippedRefusal : nil
        case .setLevel(let level, let duration):
            if !can(.dimmer) {
                return Refusal(.unsupported, "This plug has no dimmer; it can only be turned on and off.")
            }
            if duration < .zero || duration > Self.longestTransition {
                return Refusal(.outOfRange, "A transition takes from zero to one hour.")
            }
            return level.permille > 0 ? trippedRefusal : nil
        case .identify, .resetProtection:
            return nil
        }
    }

    private var trippedRefusal: Refusal? {
        guard protection.isTripped else { return nil }
        return Refusal(
            .protectionTripped,
            "The plug turned itself off because the load drew too much. Reduce the load, then press the plug's button, "
                + "or turn the plug off and on again.")
    }
}
