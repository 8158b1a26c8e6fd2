public import Daemon
public import PlugClient
public import PlugModel

/// The way to the plugs, as the daemon has it.
public protocol CommandedHouse: Sendable {
    /// - Parameter plug: its announced name.
    /// - Throws: `Refusal` when the plug refused or is away, `CancellationError` when the caller gave up.
    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?)

    /// Pairs the plug of that announced name.
    ///
    /// - Throws: what is told to a person.
    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry

    /// The plugs that a rule names, and which plug each name means; none of a rule that does not run.
    ///
    /// - Parameter rule: its name, exactly.
    func plugs(of rule: String) async -> [NamedPlug]

    /// Turns a rule on or off; it stays so over restarts.
    ///
    /// - Parameter rule: its name, exactly.
    /// - Throws: `UnknownRule` when it does not run any more, `UnstoredSwitch`, `CancellationError` when the daemon ends.
    func enable(_ rule: String, _ isOn: Bool) async throws

    /// Runs a rule's actions once, whatever its triggers and conditions say.
    ///
    /// - Returns: the id of the firing. What became of it is told by the rules' notices.
    /// - Throws: `UnknownRule` when it does not run any more, `HeldBackRun`, `CancellationError` when the daemon ends.
    func fire(_ rule: String) async throws -> RequestID
}
