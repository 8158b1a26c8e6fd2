import Automation
import Scripting

/// Functions of scripts, which rules call.
extension RuleRunner {
    /// The machine asks for one call of a script at a time.
    func call(_ call: ScriptCall, _ plugs: [PlugView]) {
        guard !isStopping else { return }
        calls[call.id] = Task {
            // It may have been withdrawn before this began.
            guard calls[call.id] != nil else { return }
            let outcome = await outcome(of: call, plugs)
            // Without an outcome it stays stored: the next process calls again.
            guard !isStopping, calls.removeValue(forKey: call.id) != nil, let outcome else { return }
            handle(.callFinished(call.id, outcome))
            await handOverMeanwhile()
        }
    }

    private func outcome(of call: ScriptCall, _ plugs: [PlugView]) async -> ScriptOutcome? {
        guard let scripts else { return .failed("nothing here runs scripts") }
        return await scripts.call(call, plugs: plugs, time: .now)
    }

    /// These run from now on; one that is equal to one of before keeps its process.
    func run(_ new: [Script]) async {
        let states = Dictionary(new.map { ($0.name, machine.scriptState(of: $0.name)) }) { first, _ in first }
        await scripts?.replace(new, states: states.compactMapValues(\.self))
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
