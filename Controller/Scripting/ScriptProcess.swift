public import Automation
import LinuxClocks
import RuleFiles

/// A script at work in a process of its own, which whoever calls it waits for (``ScriptPool`` has a thread for each).
public final class ScriptProcess {
    private let process: HostProcess
    /// Plugs as the host was told of them last.
    private var told: [String: PlugView] = [:]
    /// The time zone that was sent to the host last.
    private var zone: LocalOffsets?

    /// Starts it and lets it read its script.
    ///
    /// - Parameters:
    ///   - script: as it was read; one that sets up other functions now is refused, since their rules would not be theirs.
    ///   - host: the path of the program that runs scripts (``ScriptHost/path()``).
    ///   - state: JSON that it answered last, nil for none.
    public convenience init(
        _ script: Script, host: String, state: String?, time: ScriptTime
    ) throws(ScriptFault) {
        try self.init(script, host: host, state: state, time: time, cord: nil)
    }

    init(
        _ script: Script, host: String, state: String?, time: ScriptTime, patience: Duration = HostProcess.patience,
        cord: Cord? = nil
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
                    line: line ?? 1, message: "this is set up otherwise than when the script was read",
                    hint: "'on' may not depend on the time or on 'state'; ask them inside of the function"))
        }
    }

    /// Calls a function and waits for all that it asks for. After a fault nothing is left of the process, nor where an answer is refused
    /// with which the state would have changed (``isOver``): the next one begins with the state of before.
    ///
    /// - Parameter plugs: all there are; it is told those that have changed.
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

    public func end() { process.end() }

    /// Whether nothing can be asked of it any more, as far as is known.
    public var isOver: Bool { process.death != nil }

    /// A descriptor that can be read when it has ended.
    var socket: CInt { process.socket }
    /// How it has ended; nil while it runs. To be asked when the socket can be read.
    func ending() -> ScriptDeath? { process.hasEnded() ? process.death : nil }

    private func news(in plugs: [PlugView]) -> [PlugView] {
        var news: [PlugView] = []
        var gone = Set(told.keys)
        for view in plugs {
            gone.remove(view.name)
            if told.updateValue(view, forKey: view.name) != view { news.append(view) }
        }
        // Of a plug that nobody knows any more, nobody knows how it is.
        for name in gone.sorted() {
            told[name] = nil
            news.append(PlugView(name: name, isConnected: false))
        }
        return news
    }
}
