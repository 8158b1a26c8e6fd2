/// The last message of a side before it closes the connection.
public struct Goodbye: Hashable, Sendable {
    /// The reason of a Goodbye (`GoodbyeReason` in smartplug.proto).
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// An orderly stop or restart of a side, or the controller has changed its key.
        case stopping
        /// The two sides have no protocol version in common.
        case version
        /// The peer sent bytes that are not a valid frame or message.
        case malformed
        /// The peer sent a message before Hello, or a second Hello.
        case outOfOrder
        /// The peer exceeded a limit of sessions, requests, bytes or paired controllers.
        case limit
        /// The peer sent nothing for 45 s.
        case silent
        /// The plug does not know the controller's key, or the controller was removed.
        case notPaired
        /// The pairing window is closed.
        case pairingClosed
        /// The proof does not match this plug's setup code.
        case wrongCode
        /// The plug was reset to its factory state: it has no paired controllers and will use a new key.
        case factoryReset
        /// The requested factory reset failed because flash cannot be written. Nothing has changed.
        case resetFailed
        /// A reason that this version does not know.
        case unknown
    }

    /// The reason, for programs.
    public var reason: Reason
    /// A sentence for a person.
    public var detail: String

    /// Creates a Goodbye with a reason for programs and a sentence for a person.
    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

/// The way in which a session ended.
public enum EndReason: Hashable, Sendable {
    /// This side ended the session with a Goodbye: it stops, or the peer violated the protocol.
    case ended(Goodbye)
    /// The peer ended the session with a Goodbye.
    case endedByPeer(Goodbye)
    /// The connection was closed or lost without a Goodbye.
    case connectionLost
}
