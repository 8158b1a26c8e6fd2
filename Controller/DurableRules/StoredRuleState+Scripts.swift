public import Automation
public import PlugModel
public import ProtocolCore
public import RuleModel

extension StoredRuleState {
    /// An unanswered call of a script's function.
    public struct Call: Hashable, Sendable {
        /// The call, with the firing as its argument.
        public var call: ScriptCall
        /// The time at which the call expires.
        public var until: Instant
    }

    /// The persistent data of a script.
    public struct Script: Hashable, Sendable {
        /// A running timer.
        public struct Timer: Hashable, Sendable {
            /// The timer's name.
            public var name: String
            /// The time at which the timer ends.
            public var end: Instant
            /// The call that started the timer.
            public var startedBy: RequestID
        }

        /// The script's file name.
        public let name: String
        /// The persistent state as JSON; nil if the script never set it.
        public internal(set) var state: String?
        /// The running timers in the order in which they end, at most ``ScriptLimits/timers``.
        public internal(set) var timers: [Timer] = []
        /// The times of the commands within the last ``ScriptLimits/span``, at most ``ScriptLimits/commands``.
        public internal(set) var commands: [Instant] = []
        /// The time at which the data is discarded; nil while the script is loaded.
        public internal(set) var until: Instant?
    }

    func script(named name: String) -> Script? { scripts.first { $0.name == name } }

    /// Returns true if the script's data can be stored.
    ///
    /// - Parameter running: the loaded scripts. Data of other scripts is evicted if the list is full, although they may
    ///   return.
    func hasRoom(for name: String, running: Set<String>) -> Bool {
        scripts.count < ScriptLimits.scripts || scripts.contains { $0.name == name || !running.contains($0.name) }
    }

    /// Changes the script's data. The caller has checked that there is room.
    mutating func change(_ name: String, running: Set<String>, _ change: (inout Script) -> Void) {
        if let index = scripts.firstIndex(where: { $0.name == name }) { return change(&scripts[index]) }
        if scripts.count >= ScriptLimits.scripts {
            let others = scripts.indices.filter { !running.contains(scripts[$0].name) }
            let first = others.min { (scripts[$0].until ?? .zero) < (scripts[$1].until ?? .zero) }
            if let first { scripts.remove(at: first) }
        }
        var script = Script(name: name)
        change(&script)
        scripts.append(script)
    }
}

extension StoredRuleState.Script {
    /// Starts, restarts or stops a timer.
    mutating func change(_ timer: ScriptAnswer.TimerChange, startedBy call: RequestID, now: Instant) {
        timers.removeAll { $0.name == timer.name }
        guard let delay = timer.delay else { return }
        let end = now + ScriptLimits.timer(delay)
        let place = timers.firstIndex { end < $0.end } ?? timers.endIndex
        timers.insert(Timer(name: timer.name, end: end, startedBy: call), at: place)
    }
}

extension ScriptAnswer {
    func fault(for script: StoredRuleState.Script?) -> String? { fault(running: script?.timers.map(\.name) ?? []) }

    /// Returns the reason in words why the answer is rejected as a whole; nil if it is valid.
    ///
    /// - Parameter names: the names of the script's running timers.
    public func fault(running names: [String]) -> String? {
        if actions.count > ScriptLimits.actions {
            return "it requested \(actions.count) actions at once, but at most \(ScriptLimits.actions) are allowed"
        }
        if actions.contains(where: \.isNoneOfScripts) { return "it requested an action that scripts cannot run" }
        if let state, state.utf8.count > ScriptLimits.stateSize {
            return "its state has \(state.utf8.count) bytes as JSON, but at most \(ScriptLimits.stateSize) are allowed"
        }
        if timers.isEmpty { return nil }
        if let long = timers.first(where: { $0.name.utf8.count > ScriptLimits.timerNameSize }) {
            return
                "the name of a timer has \(long.name.utf8.count) bytes, but at most \(ScriptLimits.timerNameSize) are allowed"
        }
        var running = Set(names)
        for timer in timers {
            if timer.delay == nil { running.remove(timer.name) } else { running.insert(timer.name) }
        }
        return running.count > ScriptLimits.timers
            ? "it would have \(running.count) timers, but at most \(ScriptLimits.timers) are allowed" : nil
    }
}

extension RuleAction {
    /// True for actions that a script must not request: a function answers once, with actions that run at once.
    fileprivate var isNoneOfScripts: Bool {
        switch self {
        case .wait, .waitUntil, .call: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .wake: false
        }
    }
}
