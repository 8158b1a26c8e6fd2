public import Automation
public import Backtesting

/// Scripts in virtual time: each in a process of its own, as the daemon has them, that begins when it is first called.
public final class VirtualScripts: PastScripts {
    public let plugs: [String]
    public let words: [String]
    private let scripts: [String: Script]
    private let host: String
    private var processes: [String: ScriptProcess] = [:]
    /// What each keeps, as of its last answer.
    private var states: [String: String] = [:]
    /// Before that.
    private var earlier: [String: String] = [:]

    /// - Throws: where `plugctl-script` is not found.
    public init(_ scripts: [Script]) throws(ScriptFault) {
        host = try ScriptHost.path()
        self.scripts = Dictionary(scripts.map { ($0.name, $0) }) { first, _ in first }
        let found = scripts.map { ScriptWords($0.source) }
        plugs = found.flatMap { $0.plugs.map(\.text) }
        words = found.flatMap { $0.others.map(\.text) }
    }

    deinit { for process in processes.values { process.end() } }

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
            // The next call begins another one, without the daemon's waits between them.
            processes.removeValue(forKey: name)?.end()
            return .failed(error.words)
        }
    }

    public func refused(_ script: String) {
        states[script] = earlier[script]
        // What it remembers of the call is not wanted.
        processes.removeValue(forKey: script)?.end()
    }

    private func process(of name: String, at time: ScriptTime) throws(ScriptFault) -> ScriptProcess {
        if let process = processes[name] { return process }
        guard let script = scripts[name] else { preconditionFailure("a rule calls a script that was not read") }
        let process = try ScriptProcess(script, host: host, state: states[name], time: time)
        processes[name] = process
        return process
    }
}
