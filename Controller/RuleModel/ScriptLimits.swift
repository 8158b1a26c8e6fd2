/// The limits of a script's requests, so that one script cannot block the house. The limits of its process, running
/// time and memory are in the script host.
public enum ScriptLimits {
    /// The maximum number of plug commands, notifications, programs, web hooks and attempts to wake a machine, all
    /// together, within any ``span``. A relay wears out at higher rates, and users need fewer commands. At most this
    /// number of a script's timers ends within a span, because each firing is stored and traced.
    public static let commands = 60
    /// The length of the sliding span for ``commands``.
    public static let span = Duration.seconds(60)
    /// The maximum number of actions in one answer. Keeps the stored state of the rules small.
    public static let actions = 256
    /// The maximum size of a script's persistent state, in bytes of JSON. The state is part of every write of the
    /// house's memory.
    public static let stateSize = 64 << 10
    /// The maximum number of log lines per call. Keeps the trace of a firing readable.
    public static let logLines = 100
    /// The maximum size of a log line in bytes. Longer lines are cut.
    public static let logLineSize = 500
    /// The maximum number of functions of one script that rules call.
    public static let handlers = 64
    /// The maximum number of running timers per script.
    public static let timers = 64
    /// The maximum size of a timer's name in bytes.
    public static let timerNameSize = 63
    /// The minimum length of a timer. A shorter delay is extended to this.
    public static let shortestTimer = Duration.milliseconds(100)
    /// The maximum length of a timer. Keeps instants far from overflow.
    public static let longestTimer = Duration.seconds(366 * 86_400)
    /// Returns the delay, clamped to the shortest and longest timer.
    public static func timer(_ delay: Duration) -> Duration { min(max(delay, shortestTimer), longestTimer) }
    /// The maximum number of scripts in a house. Each has its own process.
    public static let scripts = 64
    /// The maximum number of unanswered calls of all scripts. One script may have at most two thirds of those that the
    /// other scripts leave. Stops events that arrive faster than scripts answer from filling memory and disk.
    public static let calls = 1024
    /// How long a script's state and timers are stored while the script is missing. Its file may be empty or absent for
    /// a while.
    public static let keeping = Duration.seconds(86_400)
    /// How long a call may wait for its turn and its answer together. After that it fails.
    public static let patience = Duration.seconds(600)
}
