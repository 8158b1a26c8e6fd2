public import Automation
public import Backtesting
public import RuleModel

/// Runs scripts in virtual time, for a backtest. Each script has its own process, as in the daemon. The process starts
/// at the script's first call.
public final class VirtualScripts: PastScripts {
    /// The names of plugs that the scripts contain.
    public let plugs: [String]
    /// The other texts that the scripts contain.
    public let words: [String]
    private let scripts: [String: Script]
    private let host: String
    private var processes: [String: ScriptProcess] = [:]
    /// The state of each script after its last answer.
    private var states: [String: String] = [:]
    /// The state of each script before its last call.
    private var earlier: [String: String] = [:]

    /// Finds the script host. Starts no process.
    ///
    /// - Throws: `ScriptFault` if `plugctl-script` is not found.
    public init(_ scripts: [Script]) throws(ScriptFault) {
        host = try ScriptHost.path()
        self.scripts = Dictionary(scripts.map { ($0.name, $0) }) { first, _ in first }
        let found = scripts.map { ScriptWords($0.source) }
        plugs = found.flatMap { $0.plugs.map(\.text) }
        words = found.flatMap { $0.others.map(\.text) }
    }

    deinit { for process in processes.values { process.end() } }

    /// Calls a function of a script at a virtual time, in milliseconds since 1970. A fault becomes a failed outcome.
    public func call(_ call: ScriptCall, plugs: [PlugView], at milliseconds: Int64) -> ScriptOutcome {
        let name = call.handler.script
        let time = ScriptTime(local: Double(milliseconds) / 1000)
        do throws(ScriptFault) {
            let process = try process(of: name, at: time)
            let outcome = try process.call(call, plugs: plugs, time: time)
            earlier[name] = states[name]
            if case .answered(let answer) = outcome, let state = answer.state { states[name] = state }
            if process.isOver { processes[name] = nil }
            return outcome
        } catch {
            // The next call starts a new process immediately, without the daemon's pauses.
            processes.removeValue(forKey: name)?.end()
            return .failed(error.words)
        }
    }

    /// Restores the state before the last call, because its answer was refused.
    public func refused(_ script: String) {
        states[script] = earlier[script]
        // The process still has the changes of that call.
        processes.removeValue(forKey: script)?.end()
    }

    private func process(of name: String, at time: ScriptTime) throws(ScriptFault) -> ScriptProcess {
        if let process = processes[name] { return process }
        guard let script = scripts[name] else { preconditionFailure("a rule calls a script that was not loaded") }
        let process = try ScriptProcess(script, host: host, state: states[name], time: time)
        processes[name] = process
        return process
    }
}
