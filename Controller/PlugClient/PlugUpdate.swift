public import PlugProtocol

/// What is heard of a plug that is being followed, in order.
public enum PlugUpdate: Sendable {
    case connected(PlugDescription)
    /// Events are followed from now on: the next one comes after this number. Not told where the follower had a cursor.
    case following(after: SequenceNumber)
    /// The state when the subscription began. Not an edge: nothing need have changed.
    case snapshot(PlugState)
    /// The newest state; what came between two of these was coalesced.
    case state(PlugState)
    /// Once for each event of the plug's journal, in order. `age` is nil when it happened in an earlier boot of the plug.
    case event(PlugEvent, age: Duration?)
    /// Events that were lost while nobody listened.
    case gap(Gap)
    case commandFinished(RequestID, CommandOutcome)
    /// A chunk of samples that was fetched (``Metering/SampleChunk``); empty where the plug has nothing in the range.
    case samples(fetch: UInt32, chunk: [UInt8], last: Bool)
    case disconnected(reason: String, retryIn: Duration)
}
