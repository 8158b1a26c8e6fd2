public import PlugModel

/// A function of a script, which a rule made of the script calls.
public struct ScriptHandler: Hashable, Sendable {
    /// The script's name: its file's, `television.lua`.
    public var script: String
    /// Its place among those that the script gave when it was loaded.
    public var index: Int

    public init(script: String, index: Int) {
        self.script = script
        self.index = index
    }
}

/// A timer that a script started, by the name that it gave it.
public struct ScriptTimer: Hashable, Sendable {
    public var script: String
    public var name: String

    public init(script: String, name: String) {
        self.script = script
        self.name = name
    }
}

/// A script's function is to be called with what happened. Nothing is done of it until all that it asks for is stored, so that a process
/// that dies meanwhile has done nothing, and the next one calls it again with the same `id`.
public struct ScriptCall: Hashable, Sendable {
    public var id: RequestID
    public var handler: ScriptHandler
    public var firing: Firing

    public init(id: RequestID, handler: ScriptHandler, firing: Firing) {
        self.id = id
        self.handler = handler
        self.firing = firing
    }
}

/// A plug as a script sees it.
public struct PlugView: Hashable, Sendable {
    public var name: String
    public var isConnected: Bool
    public var isOn: Bool?
    /// Thousandths; nil of a plug without a dimmer.
    public var level: DimLevel?
    /// W, as of the last reading.
    public var activePower: Double?

    public init(name: String, isConnected: Bool) {
        self.name = name
        self.isConnected = isConnected
    }
}

/// All that a script's function asked for, which is done, and kept, as one.
public struct ScriptAnswer: Hashable, Sendable {
    public struct TimerChange: Hashable, Sendable {
        public var name: String
        /// From now on; nil stops it.
        public var delay: Duration?

        public init(name: String, delay: Duration?) {
            self.name = name
            self.delay = delay
        }
    }

    /// In their order; none of them waits, and none calls a script.
    public var actions: [RuleAction] = []
    public var timers: [TimerChange] = []
    /// JSON: what the script is to find again after a restart; nil where it did not change.
    public var state: String?
    public var log: [String] = []

    public init() {}
}

/// What became of a call.
public enum ScriptOutcome: Hashable, Sendable {
    case answered(ScriptAnswer)
    /// Why, in words, with what it logged before. Nothing that it asked for is done.
    case failed(String, log: [String] = [])
}
