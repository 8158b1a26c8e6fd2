public import PlugModel

/// The known facts of a plug for a check of rules.
public struct KnownPlug: Hashable, Sendable {
    /// The plug's name.
    public var name: String
    /// Nil if unknown.
    public var capabilities: Set<Capability>?
    /// Watts of the connected load: in the range from off to on. Nil if unknown.
    public var activePower: ClosedRange<Double>?

    /// Creates a plug.
    public init(name: String, capabilities: Set<Capability>? = nil, activePower: ClosedRange<Double>? = nil) {
        self.name = name
        self.capabilities = capabilities
        self.activePower = activePower
    }
}
