import Automation
import PlugModel
import ProtocolCore

/// Notifications, programs, web hooks, and magic packets that wake machines. An effect is stored before it begins. If
/// this process is killed, the next one repeats it.
extension DurableRuleEngine {
    mutating func perform(_ request: EffectRequest, now: Instant) -> [Action] {
        let told = Action.tell(.performing(request))
        guard request.effect.fits else {
            let words = "its texts are too many or too long; the limit of each is \(StoredRuleState.maximumWords) bytes"
            return [told, .tell(.effect(request, .failed(words)))]
        }
        let total = memory.effects.reduce(request.effect.size) { $0 + $1.request.effect.size }
        guard memory.effects.count < StoredRuleState.maximumEffects, total <= StoredRuleState.Effect.maximumTotal else {
            let words = "\(memory.effects.count) earlier effects are not finished yet"
            return [told, .tell(.effect(request, .failed(words)))]
        }
        let until = now + Self.patience(for: request.effect)
        memory.effects.append(StoredRuleState.Effect(request: request, until: until))
        _ = effects.request(request.id)
        return [told, .perform(request)]
    }

    /// Repeats the effects of an earlier process. They may have been carried out already.
    mutating func resumeEffects(now: Instant, _ actions: inout [Action]) {
        for effect in memory.effects where effect.until > now {
            if effects.request(effect.request.id) { actions.append(.perform(effect.request)) }
        }
    }

    mutating func finish(_ id: RequestID, _ outcome: EffectOutcome, now: Instant, _ actions: inout [Action]) {
        guard let index = memory.effects.firstIndex(where: { $0.request.id == id }) else { return }
        let effect = memory.effects.remove(at: index)
        effects.end(id)
        changed(now: now)
        actions.append(.tell(.effect(effect.request, outcome)))
    }

    mutating func expireEffects(now: Instant, _ actions: inout [Action]) {
        let expired = memory.effects.filter { $0.until <= now }
        guard !expired.isEmpty else { return }
        memory.effects.removeAll { $0.until <= now }
        changed(now: now)
        for effect in expired {
            let seconds = Self.patience(for: effect.request.effect).components.seconds
            let words =
                switch effects.end(effect.request.id) {
                case .unknown: "the daemon was not running in time to perform it"
                case .requested: "it could not start within \(seconds) s because earlier effects took too long"
                case .begun: "it did not finish within \(seconds) s"
                }
            actions += [.withdraw(effect.request.id), .tell(.effect(effect.request, .failed(words)))]
        }
    }
}
