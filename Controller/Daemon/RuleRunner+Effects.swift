import Automation
import PlugProtocol

/// What rules do outside of the house.
extension RuleRunner {
    /// How long effects that are under way may take at the end; the next process does again what was cut short.
    private static let lastWait = Duration.seconds(2)

    func beginEffects() {
        while !isStopping, let request = effects.next() {
            let performer = performer
            let task = Task {
                let outcome = await performer?.perform(request) ?? .failed("nothing here does such things")
                await ended(request.id, outcome)
            }
            effects.begun(request, task)
            handle(.effectBegun(request.id))
        }
    }

    private func ended(_ id: RequestID, _ outcome: EffectOutcome) async {
        guard effects.ended(id) else { return }
        if isStopping, effects.isIdle { stopWaiting() }
        handle(.effectFinished(id, outcome))
        beginEffects()
        await handOver()
    }

    /// What is under way may end, for a moment; what was cut short, and what has not begun, is left to the next process.
    func endEffects() async {
        guard !effects.isIdle else { return }
        let patience = Task {
            try? await Task.sleep(for: Self.lastWait)
            stopWaiting()
        }
        await withCheckedContinuation { waitingForEffects = $0 }
        patience.cancel()
        // Not waited for: one that does not heed it would keep the daemon from ending.
        effects.withdrawAll()
    }

    private func stopWaiting() {
        waitingForEffects?.resume()
        waitingForEffects = nil
    }
}
