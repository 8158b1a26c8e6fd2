public import PlugModel
public import RuleModel

/// A pending call of a script's function, with the firing that caused it. All results of a call are stored in one
/// write. If the daemon dies before that write, no result takes effect, and the next daemon calls the function again
/// with the same `id`.
public struct ScriptCall: Hashable, Sendable {
    /// The id, which is derived from the firing, so that each process gives the call the same id.
    public var id: RequestID
    /// The function to call.
    public var handler: ScriptHandler
    /// The firing, which is the argument of the function.
    public var firing: Firing

    /// Creates a call.
    public init(id: RequestID, handler: ScriptHandler, firing: Firing) {
        self.id = id
        self.handler = handler
        self.firing = firing
    }
}
