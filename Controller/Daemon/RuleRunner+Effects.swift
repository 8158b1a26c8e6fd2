public import Automation
import PlugModel

/// Performs the effects of rules outside of the house.
extension RuleRunner {
    /// The time that running effects have to finish when the runner stops. The effects that still run are then
    /// cancelled, and the next process repeats them.
    private static let lastWait = Duration.seconds(2)
    /// The time limit for cancelled effects to report the part that they completed.
    private static let lastWord = Duration.milliseconds(500)

    /// Begins the effects that may run now.
    func beginEffects() {
        while !isStopping, let request = effects.next() {
            let performer = performer
            let task = Task {
                guard let performer else { return await ended(request.id, .failed("effects are not available here")) }
                await ended(request.id, await performer.perform(request))
            }
            effects.begun(request, task)
            handle(.effectBegun(request.id))
        }
    }

    /// Sends a notification that no rule requests, and reports it like one of a rule.
    ///
    /// - Returns: False if the runner has no means of notification, or if the task is cancelled before a receiver
    ///   accepted the notification.
    public func notify(_ request: EffectRequest) async -> Bool {
        guard let performer, !isStopping else { return false }
        tell([.performing(request)])
        await deliverIfIdle()
        guard let outcome = await performer.perform(request) else { return false }
        tell([.effect(request, outcome)])
        await deliverIfIdle()
        return true
    }

    private func ended(_ id: RequestID, _ outcome: EffectOutcome?) async {
        guard effects.ended(id) else { return }
        if isStopping, effects.isIdle { stopWaiting() }
        // The effect was cancelled and stays stored for the next process.
        guard let outcome else { return }
        handle(.effectFinished(id, outcome))
        beginEffects()
        await deliverIfIdle()
    }

    /// Waits briefly for the running effects and then cancels them. Effects that were cancelled or have not begun are
    /// left to the next process. A partly completed effect, such as a notification that one receiver already has,
    /// reports its outcome and is not repeated.
    func endEffects() async {
        await waitForEffects(Self.lastWait)
        effects.cancelAll()
        await waitForEffects(Self.lastWord)
        // Removed without waiting, because an effect that ignores the cancellation would keep the daemon from ending.
        effects.withdrawAll()
    }

    private func waitForEffects(_ span: Duration) async {
        guard !effects.isIdle else { return }
        let patience = Task {
            // This task is cancelled when all effects have ended.
            guard (try? await Task.sleep(for: span)) != nil else { return }
            stopWaiting()
        }
        await withCheckedContinuation { waitingForEffects = $0 }
        patience.cancel()
    }

    private func stopWaiting() {
        waitingForEffects?.resume()
        waitingForEffects = nil
    }
}
