/// One line of what a plug answers when it is asked who is paired.
public struct PairedControllerEntry: Hashable, Sendable {
    public var name: String
    /// See ``PublicKey/fingerprint``.
    public var fingerprint: String
    public var isConnected: Bool
    /// The controller that asked.
    public var isAsker: Bool
    /// Nil where the plug's firmware does not tell, or tells one of a later version.
    public var role: Role?
    /// Until the plug removes it, while the plug has power; nil: no end.
    public var secondsLeft: UInt32?

    public init(
        name: String, fingerprint: String, isConnected: Bool, isAsker: Bool, role: Role? = nil,
        secondsLeft: UInt32? = nil
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.isConnected = isConnected
        self.isAsker = isAsker
        self.role = role
        self.secondsLeft = secondsLeft
    }
}
