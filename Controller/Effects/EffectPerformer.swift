public import Automation

/// Does what rules ask for outside of the house.
public actor EffectPerformer {
    public init() {}

    /// Returns when it is done, or when it is certain that it will not be.
    public func perform(_ request: EffectRequest) async -> EffectOutcome { .failed("nothing does it yet") }
}
