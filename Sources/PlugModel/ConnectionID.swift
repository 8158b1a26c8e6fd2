/// Identifies a connection of a plug within the life of the process. The shell assigns a new id to each accepted
/// connection.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number of the connection.
    public let rawValue: UInt64

    /// Creates an id from a number that the process has not used yet.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
