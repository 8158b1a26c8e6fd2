/// One line of what a plug answers when it is asked who is paired.
public struct PairedControllerEntry: Hashable, Sendable {
    public var name: String
    /// See ``PublicKey/fingerprint``.
    public var fingerprint: String
    public var isConnected: Bool
    /// The controller that asked.
    public var isAsker: Bool

    public init(name: String, fingerprint: String, isConnected: Bool, isAsker: Bool) {
        self.name = name
        self.fingerprint = fingerprint
        self.isConnected = isConnected
        self.isAsker = isAsker
    }
}
