public import Automation

/// Performs the effects of rules outside of the house: notifications, programs, web hooks, and magic packets that wake
/// machines.
public protocol EffectPerforming: Sendable {
    /// Performs one effect. Returns its outcome when the effect is complete or has finally failed. After the task is
    /// cancelled, the function returns soon, with nil if the next process should perform the effect again.
    ///
    /// If a process is killed before it stores the outcome, the next process performs the request again, with the same
    /// id.
    func perform(_ request: EffectRequest) async -> EffectOutcome?
}
