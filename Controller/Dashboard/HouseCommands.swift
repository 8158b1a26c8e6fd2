public import Daemon
public import PlugClient
public import PlugModel

/// The house as the dashboard commands it: sends commands to plugs, pairs plugs, switches and runs rules.
public protocol HouseCommands: Sendable {
    /// Sends a command to a plug and returns the plug's state after it, and the event that records it, if any.
    ///
    /// - Parameter plug: the announced name of the plug.
    /// - Throws: `Refusal` when the plug refused or is away, `CancellationError` when the caller was cancelled.
    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?)

    /// Pairs the plug with this announced name.
    ///
    /// - Throws: an error whose description is shown to the user.
    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry

    /// Returns the plug names that a rule uses, and the plug that each name means. Empty if the rule does not run.
    ///
    /// - Parameter rule: the exact name of the rule.
    func plugs(of rule: String) async -> [NamedPlug]

    /// Enables or disables a rule. The setting survives restarts.
    ///
    /// - Parameter rule: the exact name of the rule.
    /// - Throws: `UnknownRule` when the rule no longer runs, `UnstoredSwitch`, `CancellationError` when the daemon
    ///   ends.
    func enable(_ rule: String, _ isOn: Bool) async throws

    /// Runs the actions of a rule once, regardless of its triggers and conditions.
    ///
    /// - Returns: the id of the firing. The notices of the rules report its result.
    /// - Throws: `UnknownRule` when the rule no longer runs, `HeldBackRun`, `CancellationError` when the daemon ends.
    func fire(_ rule: String) async throws -> RequestID
}
