/// A command that was carried out or refused, and how: what a repeated request is answered with.
public struct FinishedRequest: Hashable, Sendable {
    public var request: RequestID
    public var outcome: CommandOutcome

    public init(_ request: RequestID, _ outcome: CommandOutcome) {
        self.request = request
        self.outcome = outcome
    }
}
