import Automation
import Scripting

/// Functions of scripts, which rules call.
extension RuleRunner {
    /// The machine asks for one call of a script at a time.
    func call(_ call: ScriptCall, _ plugs: [PlugView]) {
        guard !isStopping else { return }
        let state = machine.scriptState(of: call.handler.script)
        calls[call.id] = Task {
            // Its rule may be of a text that is only about to run.
            await replacing?.value
            // It may have been withdrawn before this began.
            guard !Task.isCancelled else { return }
            let outcome = await outcome(of: call, plugs, state)
            // Withdrawn, and perhaps asked again under the same id. Without an outcome it stays stored: the next process calls again.
            guard !Task.isCancelled, !isStopping, let outcome, calls.removeValue(forKey: call.id) != nil else { return }
            handle(.callFinished(call.id, outcome))
            await handOverMeanwhile()
        }
    }

    private func outcome(of call: ScriptCall, _ plugs: [PlugView], _ state: String?) async -> ScriptOutcome? {
        guard let scripts else { return .failed("nothing here runs scripts") }
        return await scripts.call(call, plugs: plugs, state: state, time: .now)
    }

    /// These run from now on; one that is equal to one of before keeps its process.
    func run(_ new: [Script]) async {
        let states = Dictionary(new.map { ($0.name, machine.scriptState(of: $0.name)) }) { first, _ in first }
        let replacing = Task { await scripts?.replace(new, states: states.compactMapValues(\.self)) ?? () }
        self.replacing = replacing
        await replacing.value
    }

    /// Tells which scripts ended, and which run again, until the task is cancelled.
    func followScripts() async {
        guard let scripts else { return }
        for await notice in scripts.notices {
            tell([HouseNotice(notice)])
            await handOverMeanwhile()
        }
    }
}

extension HouseNotice {
    fileprivate init(_ notice: ScriptNotice) {
        switch notice {
        case .ended(let script, let why, let restartsIn):
            self = .scriptEnded(script: script, why: why, restartsIn: restartsIn)
        case .runs(let script): self = .scriptRuns(script: script)
        }
    }
}
