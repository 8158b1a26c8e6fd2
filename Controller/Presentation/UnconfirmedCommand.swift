public import LinuxSystem

/// A command that the plug did not confirm in time.
public struct UnconfirmedCommand: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message for the user, such as "not confirmed within 5 s; it will not be carried out after 12:03:10".
    public let description: String

    /// Creates the error.
    ///
    /// - Parameters:
    ///   - limit: How long the plug was given to answer, as text.
    ///   - end: The time after which the plug no longer carries out the command.
    public init(within limit: String, end: WallTime) {
        // The text has whole seconds, rounded up.
        let shown = end + .seconds(1)
        let clock = shown.iso8601(offset: shown.localOffset).split(separator: "T").last?.prefix(8) ?? ""
        description = "not confirmed within \(limit); it will not be carried out after \(clock)"
    }
}
