public import Automation
import LinuxSystem
import RuleFiles
public import RuleModel

/// A script that runs in its own process. Calls block (``ScriptPool`` has a thread for each script).
public final class ScriptProcess {
    private let process: HostProcess
    /// The plugs as they were last sent to the host.
    private var told: [String: PlugView] = [:]
    /// The time zone that was last sent to the host.
    private var zone: LocalOffsets?

    /// Starts the process and loads the script.
    ///
    /// - Parameters:
    ///   - script: the script as `ScriptReader` read it. If the script declares different rules now, the initializer
    ///     throws, because the rules in use would call the wrong functions.
    ///   - host: the path of the program that runs scripts (``ScriptHost/path()``).
    ///   - state: the stored state as JSON, or nil.
    /// - Throws: `ScriptFault`.
    public convenience init(
        _ script: Script, host: String, state: String?, time: ScriptTime
    ) throws(ScriptFault) {
        try self.init(script, host: host, state: state, time: time, cord: nil)
    }

    init(
        _ script: Script, host: String, state: String?, time: ScriptTime, patience: Duration = HostProcess.patience,
        cord: HostPipe? = nil
    ) throws(ScriptFault) {
        let loaded = try LoadedScript(
            name: script.name, source: script.source, host: host, state: state, time: time, patience: patience,
            cord: cord)
        process = loaded.process
        zone = time.zone
        let rules = loaded.script.rules
        guard rules == script.rules else {
            process.end()
            let differing = zip(rules, script.rules).enumerated().first { $1.0 != $1.1 }?.offset
            let line = differing.map { loaded.script.lines[$0] } ?? loaded.script.lines.last
            throw .refused(
                ScriptRules(name: script.name, source: script.source).refusal(
                    line: line ?? 1, message: "the triggers differ from those when the script was read",
                    hint: "'on' must not depend on the time or on 'state'; use them inside the function"))
        }
    }

    /// Calls a function and waits for its answer. After an error the process has ended. It has also ended if an answer
    /// that changes the state was refused (``isOver``): the next process starts with the previous state.
    ///
    /// - Parameter plugs: all plugs; only the changed ones are sent to the host.
    public func call(_ call: ScriptCall, plugs: [PlugView], time: ScriptTime) throws(ScriptFault) -> ScriptOutcome {
        var time = time
        if time.zone == zone { time.zone = nil } else { zone = time.zone }
        let request = HostRequest.call(call, plugs: news(in: plugs), time: time)
        let line = try process.answer(to: request)
        do throws(ScriptFault) {
            let (outcome, isRefused) = try ScriptReplies.judged(line)
            if isRefused { process.end() }
            return outcome
        } catch {
            process.end()
            throw error
        }
    }

    /// Kills the process.
    public func end() { process.end() }

    /// True if the process is known to have ended.
    public var isOver: Bool { process.death != nil }

    /// A descriptor that is readable when the process has ended.
    var socket: CInt { process.socket }
    /// Returns the reason of the end; nil while the process runs. Must be called only when the socket is readable.
    func ending() -> ScriptDeath? { process.hasEnded() ? process.death : nil }

    private func news(in plugs: [PlugView]) -> [PlugView] {
        var news: [PlugView] = []
        var gone = Set(told.keys)
        for view in plugs {
            gone.remove(view.name)
            if told.updateValue(view, forKey: view.name) != view { news.append(view) }
        }
        // A removed plug is sent as not connected and without values.
        for name in gone.sorted() {
            told[name] = nil
            news.append(PlugView(name: name, isConnected: false))
        }
        return news
    }
}
