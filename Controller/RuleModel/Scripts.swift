public import PlugModel

/// A function of a script that a rule of the script calls.
public struct ScriptHandler: Hashable, Sendable {
    /// The script's file name: `television.lua`.
    public var script: String
    /// The function's place in the list that the script registered when it was loaded.
    public var index: Int

    /// Creates a reference to the function at `index`.
    public init(script: String, index: Int) {
        self.script = script
        self.index = index
    }
}

/// A timer that a script started, identified by the script and the timer's name.
public struct ScriptTimer: Hashable, Sendable {
    /// The script's file name.
    public var script: String
    /// The name that the script gave to the timer, at most ``ScriptLimits/timerNameSize`` bytes.
    public var name: String

    /// Creates a reference to a timer.
    public init(script: String, name: String) {
        self.script = script
        self.name = name
    }
}

/// A plug as a script sees it.
public struct PlugView: Hashable, Sendable {
    /// The name under which the script sees the plug.
    public var name: String
    /// True if the plug is connected.
    public var isConnected: Bool
    /// The relay's state after all unanswered commands; nil if the plug is not connected.
    public var isOn: Bool?
    /// The dim level after all unanswered commands; nil if the plug is not connected or has no dimmer.
    public var level: DimLevel?
    /// The active power of the last reading, in watts; nil if the plug is not connected or has sent no reading yet.
    public var activePower: Double?

    /// Creates a view without relay state, level and power.
    public init(name: String, isConnected: Bool) {
        self.name = name
        self.isConnected = isConnected
    }
}

/// All requests of one call of a script's function. They are stored in one write. The answer is accepted or rejected as
/// a whole, but commands and effects beyond the rate limit of ``ScriptLimits/commands`` are dropped.
public struct ScriptAnswer: Hashable, Sendable {
    /// A timer to start, restart or stop.
    public struct TimerChange: Hashable, Sendable {
        /// The timer's name.
        public var name: String
        /// The time from now until the end of the timer; nil stops the timer.
        public var delay: Duration?

        /// Creates a change of the script's timer `name`.
        public init(name: String, delay: Duration?) {
            self.name = name
            self.delay = delay
        }
    }

    /// The actions in order. No action waits or calls a script.
    public var actions: [RuleAction] = []
    /// The timers to start, restart or stop.
    public var timers: [TimerChange] = []
    /// The script's new persistent state as JSON; nil if the state did not change.
    public var state: String?
    /// The lines that the script logged.
    public var log: [String] = []

    /// Creates an empty answer.
    public init() {}
}

/// The result of a call.
public enum ScriptOutcome: Hashable, Sendable {
    /// The function returned, with these requests.
    case answered(ScriptAnswer)
    /// The call failed, with the reason in words and the lines that the script logged before the failure. None of its
    /// actions is carried out.
    case failed(String, log: [String] = [])
}
