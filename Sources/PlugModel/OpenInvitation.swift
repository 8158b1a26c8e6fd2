/// An invitation that was not used, has not expired and was not revoked.
public struct OpenInvitation: Hashable, Sendable {
    /// The number of the invitation. Numbers rise until the plug restarts.
    public var number: UInt32
    /// The role that the invited controller receives, or nil for a role that this version does not know.
    public var role: Role?
    /// The time limit in seconds of the invited controller's access, or nil for no limit.
    public var seconds: UInt32?
    /// The time in seconds until the invitation expires.
    public var secondsLeft: UInt32
    /// The name of the controller that created the invitation, at most 63 bytes.
    public var author: String
    /// True if the requesting controller created the invitation.
    public var isOwn: Bool

    /// Creates a description of an invitation.
    public init(number: UInt32, role: Role?, seconds: UInt32?, secondsLeft: UInt32, author: String, isOwn: Bool) {
        self.number = number
        self.role = role
        self.seconds = seconds
        self.secondsLeft = secondsLeft
        self.author = author
        self.isOwn = isOwn
    }
}
