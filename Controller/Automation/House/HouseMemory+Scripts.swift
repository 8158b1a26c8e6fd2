public import PlugModel
public import ProtocolCore

extension HouseMemory {
    /// A call of a script's function that is not answered.
    public struct Call: Hashable, Sendable {
        public var call: ScriptCall
        /// Then it is not worth an answer any more.
        public var until: Instant
    }

    /// What a script keeps between its calls.
    public struct Script: Hashable, Sendable {
        public struct Timer: Hashable, Sendable {
            public var name: String
            public var end: Instant
            /// The call that started it.
            public var startedBy: RequestID
        }

        public let name: String
        /// JSON; nil where it has never set anything.
        public internal(set) var state: String?
        /// ``ScriptLimits/timers`` at most, in the order in which they end.
        public internal(set) var timers: [Timer] = []
        /// When it asked for commands within the last minute, ``ScriptLimits/commands`` at most.
        public internal(set) var commands: [Instant] = []
        /// When it is forgotten; nil while its script is there.
        public internal(set) var until: Instant?
    }

    func script(named name: String) -> Script? { scripts.first { $0.name == name } }

    /// - Parameter running: the scripts that there are. What is kept of others makes room where there are too many; nobody knows before
    ///   whether they come back.
    func hasRoom(for name: String, running: Set<String>) -> Bool {
        scripts.count < ScriptLimits.scripts || scripts.contains { $0.name == name || !running.contains($0.name) }
    }

    /// What is kept of the script changes; there is room for it.
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

extension HouseMemory.Script {
    /// Starts a timer anew, or stops it.
    mutating func change(_ timer: ScriptAnswer.TimerChange, startedBy call: RequestID, now: Instant) {
        timers.removeAll { $0.name == timer.name }
        guard let delay = timer.delay else { return }
        let end = now + ScriptLimits.timer(delay)
        let place = timers.firstIndex { end < $0.end } ?? timers.endIndex
        timers.insert(Timer(name: timer.name, end: end, startedBy: call), at: place)
    }
}

extension ScriptAnswer {
    func fault(for script: HouseMemory.Script?) -> String? { fault(running: script?.timers.map(\.name) ?? []) }

    /// Why it cannot be done, in words, so that nothing of it is; nil where it can.
    ///
    /// - Parameter names: of the script's timers that run.
    public func fault(running names: [String]) -> String? {
        if actions.count > ScriptLimits.actions {
            return "it asked for \(actions.count) actions at once: at most \(ScriptLimits.actions)"
        }
        if actions.contains(where: \.isNoneOfScripts) { return "what it asked for cannot be done by a script" }
        if let state, state.utf8.count > ScriptLimits.stateSize {
            return "its state has \(state.utf8.count) bytes as JSON: at most \(ScriptLimits.stateSize)"
        }
        if timers.isEmpty { return nil }
        if let long = timers.first(where: { $0.name.utf8.count > ScriptLimits.timerNameSize }) {
            return "a timer's name has \(long.name.utf8.count) bytes: at most \(ScriptLimits.timerNameSize)"
        }
        var running = Set(names)
        for timer in timers {
            if timer.delay == nil { running.remove(timer.name) } else { running.insert(timer.name) }
        }
        return running.count > ScriptLimits.timers
            ? "it would have \(running.count) timers: at most \(ScriptLimits.timers)" : nil
    }
}

extension RuleAction {
    /// A function answers once, with what is to be done then.
    fileprivate var isNoneOfScripts: Bool {
        switch self {
        case .wait, .waitUntil, .call: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook: false
        }
    }
}
