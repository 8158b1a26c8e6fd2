import Automation
import PlugModel

/// What rules do outside of the house.
extension RuleRunner {
    /// How long effects that are under way may take at the end; the next process does again what was cut short.
    private static let lastWait = Duration.seconds(2)
    /// How long what was cut short may take to say what came of it before.
    private static let lastWord = Duration.milliseconds(500)

    func beginEffects() {
        while !isStopping, let request = effects.next() {
            let performer = performer
            let task = Task {
                guard let performer else { return await ended(request.id, .failed("nothing here does such things")) }
                await ended(request.id, await performer.perform(request))
            }
            effects.begun(request, task)
            handle(.effectBegun(request.id))
        }
    }

    private func ended(_ id: RequestID, _ outcome: EffectOutcome?) async {
        guard effects.ended(id) else { return }
        if isStopping, effects.isIdle { stopWaiting() }
        // Cut short: it stays stored.
        guard let outcome else { return }
        handle(.effectFinished(id, outcome))
        beginEffects()
        await handOverMeanwhile()
    }

    /// What is under way may end, for a moment; what was cut short, and what has not begun, is left to the next process. Of what was
    /// cut short half done, such as a notification that one receiver has, nothing is left to it.
    func endEffects() async {
        await waitForEffects(Self.lastWait)
        effects.cancelAll()
        await waitForEffects(Self.lastWord)
        // Not waited for: one that does not heed it would keep the daemon from ending.
        effects.withdrawAll()
    }

    private func waitForEffects(_ span: Duration) async {
        guard !effects.isIdle else { return }
        let patience = Task {
            // Cancelled: they have ended.
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
