public import Daemon
public import HostSleep
public import PlugClient
public import PlugModel
public import SleepClient

/// The operations of the dashboard on a house: sending commands to plugs, pairing plugs, enabling, disabling and running
/// rules, and waking machines.
public protocol HouseCommands: Sendable {
    /// Sends a command to a plug. Returns the resulting state, and the number of the event that records the change; nil
    /// if nothing changed.
    ///
    /// - Parameter plug: the announced name of the plug.
    /// - Throws: `Refusal` when the plug refused, or when no plug is followed under this name; `CancellationError` when
    ///   the caller was cancelled. The call waits for a followed plug that is disconnected.
    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?)

    /// Pairs the plug with this announced name.
    ///
    /// - Throws: an error whose description is shown to the user.
    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry

    /// Returns the plug names that a rule uses, and the plug that each name means. Empty if no such rule is loaded.
    ///
    /// - Parameter rule: the exact name of the rule.
    func plugs(of rule: String) async -> [NamedPlug]

    /// Enables or disables a rule. The setting survives restarts.
    ///
    /// - Parameter rule: the exact name of the rule.
    /// - Throws: `RuleRequestError` if no such rule is loaded or the setting applies only until the daemon ends,
    ///   `CancellationError` when the daemon ends.
    func enable(_ rule: String, _ isOn: Bool) async throws

    /// Runs the actions of a rule once, regardless of its triggers and conditions.
    ///
    /// - Returns: the id of the firing, which identifies the firing's result in the notices of the rules.
    /// - Throws: `RuleRequestError` if no such rule is loaded or the actions did not begin, `CancellationError` when the
    ///   daemon ends.
    func fire(_ rule: String) async throws -> RequestID

    /// The machines that the daemon can wake.
    var machines: KnownMachines { get }

    /// Wakes a machine, and waits for the outcome, for at most a minute.
    ///
    /// - Throws: `WakeFault` if no interface can send the magic packet, `CancellationError` when the daemon ends.
    func wake(_ machine: KnownMachine) async throws -> WakeOutcome
}
