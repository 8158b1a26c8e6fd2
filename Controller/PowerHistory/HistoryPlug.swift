public import PlugModel

/// A plug that the history knows.
public struct HistoryPlug: Hashable, Sendable {
    public var id: PlugID
    /// The name that it bore last; empty where none was ever told.
    public var name: String
    /// The wall clock at its first and last sample, milliseconds since 1970; nil while there is none.
    public var span: ClosedRange<Int64>?

    public init(id: PlugID, name: String, span: ClosedRange<Int64>? = nil) {
        self.id = id
        self.name = name
        self.span = span
    }

    /// What a person calls it: its name, or its id where it has none.
    public var title: String { name.isEmpty ? id.rawValue : name }
}
