public import Automation
public import Daemon
public import HostSleep
public import PlugClient
public import PlugModel
public import SleepClient
public import SystemUpdates

/// The operations of the dashboard on a house: sending commands to plugs, managing their pairings and settings, enabling,
/// disabling and running rules, sending notifications, and waking machines.
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

    /// Returns the settings that a connected plug reported last; nil if its firmware does not support settings.
    ///
    /// - Throws: `Refusal` if the plug is not connected.
    func settings(of plug: String) async throws -> RemoteSettings?

    /// Allows one other controller to pair with a connected plug.
    ///
    /// - Returns: the time for which the code is valid; nil if the connection ended before the plug answered.
    /// - Throws: `Refusal` if the plug refused or is not connected.
    func invite(to plug: String, code: SetupCode, as grant: Grant) async throws -> Duration?

    /// Ends the pairing with a connected plug.
    ///
    /// - Throws: `Refusal` if the plug refused or is not connected, or an error whose description is shown to the user.
    ///   The plug then stays paired.
    func unpair(_ plug: String) async throws

    /// Removes a plug from the list of paired plugs without contacting it.
    ///
    /// - Throws: an error whose description is shown to the user.
    func forget(_ plug: PlugID) async throws

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

    /// Sends a notification to the receivers of the rules' notifications, and shows it to users who watch the daemon.
    ///
    /// - Returns: false if the daemon ends before a receiver accepted the notification.
    func notify(_ request: EffectRequest) async -> Bool

    /// The systems of the plugs, and their updates.
    var updates: HouseUpdates { get }

    /// The machines that the daemon can wake.
    var machines: KnownMachines { get }

    /// Wakes a machine, and waits for the outcome, for at most a minute.
    ///
    /// - Throws: `WakeFault` if no interface can send the magic packet, `CancellationError` when the daemon ends.
    func wake(_ machine: KnownMachine) async throws -> WakeOutcome
}
