/// A completed command and its outcome. The plug answers a repeated request with the stored outcome.
public struct FinishedRequest: Hashable, Sendable {
    /// The command, by origin and request id.
    public var command: CommandID
    /// The answer that the plug sent.
    public var outcome: CommandOutcome

    /// Creates a record of a completed command.
    public init(_ command: CommandID, _ outcome: CommandOutcome) {
        self.command = command
        self.outcome = outcome
    }
}
