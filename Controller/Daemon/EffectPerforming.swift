public import Automation

/// Performs the effects of rules outside of the house: notifications, programs and web hooks.
public protocol EffectPerforming: Sendable {
    /// Performs one effect. Returns its outcome when the effect is complete or has finally failed. After the task is
    /// cancelled, the function returns soon, with nil if the next process should perform the effect again.
    ///
    /// A request with a known id may already have been performed by a process that was killed before it could store the
    /// outcome.
    func perform(_ request: EffectRequest) async -> EffectOutcome?
}
