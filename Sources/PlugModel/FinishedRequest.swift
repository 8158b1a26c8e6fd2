/// A command that was carried out or refused, and how: what a repeated request is answered with.
public struct FinishedRequest: Hashable, Sendable {
    public var command: CommandID
    public var outcome: CommandOutcome

    public init(_ command: CommandID, _ outcome: CommandOutcome) {
        self.command = command
        self.outcome = outcome
    }
}
