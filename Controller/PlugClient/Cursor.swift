public import PlugModel

/// Where following a plug's events begins.
public enum Cursor: Hashable, Sendable {
    /// With what happens from now on.
    case now
    /// With the oldest event that the plug still has; what it has no more is told as a gap.
    case beginning
    /// With the event after the last one that took its effect.
    case after(SequenceNumber)
}

extension Cursor {
    var subscription: SubscriptionOptions.Events {
        switch self {
        case .now: .fromNow
        case .beginning: .after(0)
        case .after(let sequence): .after(sequence)
        }
    }
}
