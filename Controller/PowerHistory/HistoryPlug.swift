public import PlugModel

/// A plug in the history.
public struct HistoryPlug: Hashable, Sendable {
    /// The plug's id.
    public var id: PlugID
    /// The last known name; empty if it is unknown.
    public var name: String
    /// The wall clock at the first and the last sample, in milliseconds since 1970; nil without samples. If old samples
    /// were deleted by age, the span begins with the first stored quarter-hour that has a power.
    public var span: ClosedRange<Int64>?

    /// Creates a plug.
    public init(id: PlugID, name: String, span: ClosedRange<Int64>? = nil) {
        self.id = id
        self.name = name
        self.span = span
    }

    /// The name for the user: the plug's name, or its id if the name is empty.
    public var title: String { name.isEmpty ? id.rawValue : name }
}
