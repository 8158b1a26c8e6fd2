import Automation
import DurableRules
import RuleModel
import Scripting

/// Calls functions of scripts for rules.
extension RuleRunner {
    /// Calls a script's function. The machine requests at most one call per script at a time.
    func call(_ call: ScriptCall, _ plugs: [PlugView]) {
        guard !isStopping else { return }
        let state = machine.scriptState(of: call.handler.script)
        calls[call.id] = Task {
            // The rule may belong to a script version that is just being started.
            await replacing?.value
            // The call may have been withdrawn before this task began.
            guard !Task.isCancelled else { return }
            let outcome = await outcome(of: call, plugs, state)
            // If the call was withdrawn, the same id may be in use by a new call. A call without an outcome stays
            // stored, and the next process repeats it.
            guard !Task.isCancelled, !isStopping, let outcome, calls.removeValue(forKey: call.id) != nil else { return }
            handle(.callFinished(call.id, outcome))
            await deliverIfIdle()
        }
    }

    private func outcome(of call: ScriptCall, _ plugs: [PlugView], _ state: String?) async -> ScriptOutcome? {
        guard let scripts else { return .failed("scripts are not available here") }
        return await scripts.call(call, plugs: plugs, state: state, time: .now)
    }

    /// Starts the given scripts, and ends all scripts that are not among them. Unchanged scripts keep their processes.
    func run(_ new: [Script]) async {
        let states = Dictionary(new.map { ($0.name, machine.scriptState(of: $0.name)) }) { first, _ in first }
        let replacing = Task { await scripts?.replace(new, states: states.compactMapValues(\.self)) ?? () }
        self.replacing = replacing
        await replacing.value
    }

    /// Reports the ends and starts of scripts until the task is cancelled.
    func followScripts() async {
        guard let scripts else { return }
        for await notice in scripts.notices {
            tell([RuleNotice(notice)])
            await deliverIfIdle()
        }
    }
}

extension RuleNotice {
    fileprivate init(_ notice: ScriptNotice) {
        switch notice {
        case .ended(let script, let why, let restartsIn):
            self = .scriptEnded(script: script, why: why, restartsIn: restartsIn)
        case .runs(let script): self = .scriptRuns(script: script)
        }
    }
}
