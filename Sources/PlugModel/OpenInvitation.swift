/// An invitation of a plug that has been neither used nor ended.
public struct OpenInvitation: Hashable, Sendable {
    /// Rises from one invitation to the next, until the plug restarts.
    public var number: UInt32
    /// The role of the controller that uses it; nil for a role that this version does not know.
    public var role: Role?
    /// For so long that controller is paired; nil: until it is removed.
    public var seconds: UInt32?
    /// Until the invitation expires.
    public var secondsLeft: UInt32
    /// Name of the controller that made it, at most 63 bytes.
    public var author: String
    /// The asking controller made it.
    public var isOwn: Bool

    public init(number: UInt32, role: Role?, seconds: UInt32?, secondsLeft: UInt32, author: String, isOwn: Bool) {
        self.number = number
        self.role = role
        self.seconds = seconds
        self.secondsLeft = secondsLeft
        self.author = author
        self.isOwn = isOwn
    }
}
