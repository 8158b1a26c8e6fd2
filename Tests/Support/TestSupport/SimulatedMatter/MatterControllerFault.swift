public import MatterWire

/// The reasons why a request of the simulated controller failed.
public enum MatterControllerFault: Error, Equatable {
    /// The controller has no session that fits the request.
    case noSession
    /// The device did not acknowledge a message, or did not answer in time.
    case unanswered
    /// The session ended before the answer.
    case sessionEnded
    /// The device refused the handshake with a status report, or its proof was wrong.
    case handshake(String)
    /// The device answered with this status.
    case status(InteractionStatusCode)
    /// The device answered with an error code of a cluster.
    case refused(step: String, code: UInt64)
    /// The device's answer is malformed, or a signature is invalid.
    case invalid(String)
}
