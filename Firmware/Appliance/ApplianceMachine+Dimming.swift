import PlugModel
import ProtocolCore

extension ApplianceMachine {
    /// Sets the level, at once or by a transition. Level 0 turns the relay off when the transition ends, and the
    /// recorded event has the cause given here.
    /// - Returns: True if the relay changed in this call.
    mutating func setLevel(
        _ target: DimLevel, over duration: Duration, cause: RelayCause, _ now: Instant, _ actions: inout [Action]
    ) -> Bool {
        guard target.permille > 0 else {
            guard relayOn, duration > .zero else { return switchRelay(false, cause: cause, now, &actions) }
            move(to: target, over: duration, cause: cause, now, &actions)
            return false
        }
        restingLevel = target
        var changed = false
        if !relayOn {
            level = duration > .zero ? .zero : target
            changed = switchRelay(true, cause: cause, now, &actions)
            guard relayOn else {
                level = restingLevel
                return false
            }
        }
        move(to: target, over: duration, cause: cause, now, &actions)
        return changed
    }

    private mutating func move(
        to target: DimLevel, over duration: Duration, cause: RelayCause, _ now: Instant, _ actions: inout [Action]
    ) {
        transition = nil
        guard target != level else { return }
        if duration > .zero {
            transition = DimTransition(from: level, to: target, start: now, duration: duration, cause: cause)
        } else {
            level = target
            actions.append(.part(.setDimmer(level)))
        }
    }

    /// Advances the transition to the time `now`.
    mutating func stepTransition(_ now: Instant, _ actions: inout [Action]) {
        guard var moving = transition, moving.nextStep <= now else { return }
        let next = moving.level(at: now)
        if next != level {
            level = next
            actions.append(.part(.setDimmer(level)))
        }
        if now < moving.end {
            moving.advance(past: now)
            transition = moving
        } else {
            transition = nil
            if moving.to.permille == 0 { _ = switchRelay(false, cause: moving.cause, now, &actions) }
        }
    }
}
