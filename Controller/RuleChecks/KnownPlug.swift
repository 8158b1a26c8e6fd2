public import PlugModel

/// The known facts of a plug for a check of rules.
public struct KnownPlug: Hashable, Sendable {
    /// The plug's name.
    public var name: String
    /// The plug's capabilities; nil if unknown.
    public var capabilities: Set<Capability>?
    /// The range of the recorded power of the connected load, in watts; nil without a recording.
    public var activePower: ClosedRange<Double>?

    /// Creates a plug.
    public init(name: String, capabilities: Set<Capability>? = nil, activePower: ClosedRange<Double>? = nil) {
        self.name = name
        self.capabilities = capabilities
        self.activePower = activePower
    }
}
