import PlugModel

/// The effects that this process requested, and those in progress.
struct EffectProgress: Sendable {
    enum State: Hashable, Sendable {
        /// The effect is of an earlier process, and this process did not repeat it.
        case unknown
        case requested
        case begun
    }

    /// The effects that this process requests, or will request once they are stored.
    private var requested: Set<RequestID> = []
    private var begun: Set<RequestID> = []

    /// Records a request. Returns false if the effect was requested before.
    mutating func request(_ id: RequestID) -> Bool { requested.insert(id).inserted }

    /// Records that a requested effect has begun.
    mutating func begin(_ id: RequestID) { if requested.contains(id) { begun.insert(id) } }

    /// Forgets an effect. Returns its last state.
    @discardableResult
    mutating func end(_ id: RequestID) -> State {
        let hasBegun = begun.remove(id) != nil
        return requested.remove(id) == nil ? .unknown : hasBegun ? .begun : .requested
    }
}
