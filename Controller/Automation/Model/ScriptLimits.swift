/// What stops a script from taking more of the house than its share. Those of its process, its time and its memory, stand in the
/// process's own program.
public enum ScriptLimits {
    /// Plug commands, notifications, programs and web hooks together, within any ``span``: what a person means needs fewer, and a relay
    /// bears no more. As many timers end within one: each firing is stored and traced.
    public static let commands = 60
    public static let span = Duration.seconds(60)
    /// Actions that one answer asks for. Keeps what is stored of it small.
    public static let actions = 256
    /// Bytes of JSON that a script finds again after a restart: they are stored with everything that the house does.
    public static let stateSize = 64 << 10
    /// Lines of one call, and bytes of each. Keeps what is told of a firing short enough to be read.
    public static let logLines = 100
    public static let logLineSize = 500
    /// Functions of one script that rules call.
    public static let handlers = 64
    /// Timers of one script that run at once, and bytes of the name of each.
    public static let timers = 64
    public static let timerNameSize = 63
    /// A shorter one ends only after this.
    public static let shortestTimer = Duration.milliseconds(100)
    /// Longer than anybody waits; instants are far from their end.
    public static let longestTimer = Duration.seconds(366 * 86_400)
    /// How long a timer runs that was started for so long.
    public static func timer(_ delay: Duration) -> Duration { min(max(delay, shortestTimer), longestTimer) }
    /// Scripts of one house: each has a process of its own.
    public static let scripts = 64
    /// Calls of all scripts that are not answered, two thirds of them those of one at most. Stops events that come faster than scripts answer from filling memory and disk.
    public static let calls = 1024
    /// How long it stays what a script set, and its timers, where the script is not there: its file may be empty or away for a while.
    public static let keeping = Duration.seconds(86_400)
    /// How long a call waits for its turn and its answer, beside those before it.
    public static let patience = Duration.seconds(600)
}
