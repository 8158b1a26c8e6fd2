/// What a script and its process may fill of the controller's memory.
enum MessageLimits {
    /// Bytes of a line to the host, which refuses longer ones.
    static let request = 1 << 20
    /// Bytes of a line from it: a host that writes without an end is ended.
    static let reply = 256 << 10
    /// Bytes of a script's text: as JSON, where each may take six, it fits in a line together with the state.
    static let source = 128 << 10
    /// Bytes of a script's name: with a line's number it still is a rule's name.
    static let name = 48
    /// Timers that one answer starts and stops: more than a script may have.
    static let timerChanges = 256
    /// Bytes of what a host says went wrong.
    static let words = 2000
}
