/// Names one connection of a plug for as long as the process lives. The shell draws a new one for each it accepts.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
