/// The last message of a side before it closes: why, and a sentence for a person.
public struct Goodbye: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// Orderly stop or restart.
        case stopping
        /// No protocol version in common.
        case version
        /// What arrived was no frame or no message.
        case malformed
        /// A message before Hello, or a second Hello.
        case outOfOrder
        /// Too many sessions, requests or bytes.
        case limit
        /// Nothing received for 45 s.
        case silent
        /// The plug does not know the controller's key, or it was removed.
        case notPaired
        /// The pairing window is closed.
        case pairingClosed
        /// The proof is not one of this plug's setup code.
        case wrongCode
        /// The plug is set back to factory state: it knows nobody any more, and takes another key.
        case factoryReset
        /// It was asked to be and cannot: its flash cannot be written. It is as it was.
        case resetFailed
        /// A reason that this version does not know.
        case unknown
    }

    public var reason: Reason
    public var detail: String

    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

/// How a session ended.
public enum EndReason: Hashable, Sendable {
    /// This side ended it and said so: it stops, or the peer was at fault.
    case ended(Goodbye)
    /// The peer ended it and said why.
    case endedByPeer(Goodbye)
    /// The connection was closed or broke without a word.
    case connectionLost
}
