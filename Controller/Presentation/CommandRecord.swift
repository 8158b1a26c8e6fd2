public import PlugModel

/// The output of `plugctl on`, `off`, `toggle`, `dim`, `identify` and `reset --protection` with `--json`, and the
/// answer of the daemon's API to a command.
public struct CommandRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The resulting state of the relay.
    public var on: Bool?
    /// The level in percent.
    public var level: Double?
    /// The number of the event that records the change; absent if nothing changed.
    public var seq: UInt64?
    /// The protection that keeps the relay open, as in ``WatchRecord/protection``.
    public var tripped: String?
    /// The reason why the command was not performed.
    public var error: String?

    /// Creates the record of a performed command.
    ///
    /// - Parameter event: the number of the event that records the change, if any.
    public init(plug: String, state: PlugState, event: SequenceNumber?) {
        self.plug = plug
        on = state.relayOn
        level = state.level?.percent
        tripped = state.tripped?.rawValue
        seq = event
    }

    /// Creates the record of a failed command.
    public init(plug: String, error: String) {
        self.plug = plug
        self.error = error
    }

    /// Text for the user after a reset of the protection.
    public var resetText: String {
        seq == nil
            ? "\(plug): no protection was tripped" : "\(plug): protection reset; it is \(on == true ? "on" : "off")"
    }

    /// The beginning of the text for the user after a transition has begun. The level was read before the transition.
    public var dimming: String { "dimming" + (level.map { " from \(number($0)) %" } ?? "") }

    /// Text for the user after the plug was turned on or off, or dimmed.
    public var text: String {
        let dimmed = on == true && level.map { $0 < 100 } == true ? " at \(number(level)) %" : ""
        let unchanged = seq == nil && dimmed.isEmpty ? " (unchanged)" : ""
        return "\(plug): \(on == true ? "on" : "off")\(dimmed)\(unchanged)"
    }
}
