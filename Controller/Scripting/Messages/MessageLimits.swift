/// The limits of messages. They bound the memory of the controller that a script and its process can fill.
enum MessageLimits {
    /// The longest request in bytes; the host rejects longer lines.
    static let request = 1 << 20
    /// The longest reply in bytes. Stops a host that writes without end.
    static let reply = 256 << 10
    /// The longest source in bytes. A byte takes up to six bytes in JSON, and the source and the state must fit into
    /// one request.
    static let source = 128 << 10
    /// The longest name of a script in bytes. With a line number appended it is still a valid rule name.
    static let name = 48
    /// The maximum number of timers that one answer may start and stop. The limit of running timers is lower, see
    /// ``ScriptLimits/timers``.
    static let timerChanges = 256
    /// The longest error message of a host, in bytes.
    static let words = 2000
}
