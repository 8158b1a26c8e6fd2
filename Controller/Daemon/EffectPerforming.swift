public import Automation

/// Does what rules ask for outside of the house.
public protocol EffectPerforming: Sendable {
    /// Returns when it is done, or when it is certain that it will not be; soon after its task was cancelled, with nil where it is to be
    /// done again then, by the next process. One with an id that was
    /// asked for before may have been done already, by a process that was killed before it could say so.
    func perform(_ request: EffectRequest) async -> EffectOutcome?
}
