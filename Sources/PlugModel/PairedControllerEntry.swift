/// An entry of the plug's list of paired controllers.
public struct PairedControllerEntry: Hashable, Sendable {
    /// The name from pairing.
    public var name: String
    /// The fingerprint of the controller's key, as in ``PublicKey/fingerprint``.
    public var fingerprint: String
    /// True if the controller has a connection to the plug.
    public var isConnected: Bool
    /// True if this is the controller that requested the list.
    public var isAsker: Bool
    /// The controller's role, or nil if the plug's firmware does not send it or this version does not know it.
    public var role: Role?
    /// The time in seconds until the plug removes the controller, or nil for no limit. Only the time while the plug has
    /// power counts.
    public var secondsLeft: UInt32?

    /// Creates an entry.
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
