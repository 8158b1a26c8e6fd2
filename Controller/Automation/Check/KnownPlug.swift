public import PlugModel

/// What is known of a plug when rules are checked.
public struct KnownPlug: Hashable, Sendable {
    public var name: String
    /// Nil where nobody has told.
    public var capabilities: Set<Capability>?
    /// Watts that what it feeds draws when it is on, and when it is off, as far as they are known.
    public var activePower: ClosedRange<Double>?

    public init(name: String, capabilities: Set<Capability>? = nil, activePower: ClosedRange<Double>? = nil) {
        self.name = name
        self.capabilities = capabilities
        self.activePower = activePower
    }
}
