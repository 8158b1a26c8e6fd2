public import PlugModel

/// The position in a plug's events at which following begins.
public enum Cursor: Hashable, Sendable {
    /// Begins with the first event that happens after the subscription.
    case now
    /// Begins with the oldest event that the plug still stores. Older events are reported as a gap.
    case beginning
    /// Begins with the event after this number. The caller passes the number of the last event that took effect.
    case after(SequenceNumber)
}

extension Cursor {
    /// The cursor as an option of the subscription message.
    var subscription: SubscriptionOptions.Events {
        switch self {
        case .now: .fromNow
        case .beginning: .after(0)
        case .after(let sequence): .after(sequence)
        }
    }
}
