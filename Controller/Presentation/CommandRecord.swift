public import PlugModel

/// What `plugctl on`, `off`, `toggle`, `dim` and `reset --protection` print with `--json`.
public struct CommandRecord: Codable, Hashable, Sendable {
    public var plug: String
    /// The state that resulted.
    public var on: Bool?
    /// Per cent.
    public var level: Double?
    /// The number of the event that records the change; absent where nothing changed.
    public var seq: UInt64?
    /// The protection that keeps the relay open, as in ``WatchRecord/protection``.
    public var tripped: String?
    /// Why it was not done.
    public var error: String?

    public init(plug: String, state: PlugState, event: SequenceNumber?) {
        self.plug = plug
        on = state.relayOn
        level = state.level?.percent
        tripped = state.tripped?.rawValue
        seq = event
    }

    public init(plug: String, error: String) {
        self.plug = plug
        self.error = error
    }

    /// For a person who reset the protection.
    public var resetText: String {
        seq == nil
            ? "\(plug): no protection had tripped" : "\(plug): protection reset; it is \(on == true ? "on" : "off")"
    }

    /// For a person who switched it.
    public var text: String {
        let dimmed = on == true && level.map { $0 < 100 } == true ? " at \(number(level)) %" : ""
        let unchanged = seq == nil && dimmed.isEmpty ? " (it was already)" : ""
        return "\(plug): \(on == true ? "on" : "off")\(dimmed)\(unchanged)"
    }
}
