import Automation
import PlugClient
import PlugModel
import RuleModel

/// The access of running rules to the house: its updates, and commands to its plugs.
protocol PlugAccess: Sendable {
    /// Follows the house until the task is cancelled.
    ///
    /// - Parameter deliver: Receives the updates, in order for each plug.
    func run(_ deliver: @escaping HouseFollower.Delivery) async

    /// Sends a command.
    ///
    /// - Throws: ``Refusal`` if the plug refused, or if no plug is followed under this name. The call waits for a
    ///   followed plug that is disconnected.
    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?)

    /// Returns the paired plugs with their last known names; nil if the list cannot be read now.
    func pairedPlugs() async -> [PlugID: String]?

    /// Returns the plug with that name; nil if no plug has the name or if it is ambiguous.
    func plug(named name: String) async -> FollowedPlug?

    /// Notifies the plug that every event up to this one has taken effect.
    func acknowledge(_ sequence: SequenceNumber, of plug: String) async

    /// Passes a record of the rules to recorder and observers.
    func note(_ record: RunnerRecord) async

    /// Passes the current rules, the names of those that are turned off, and the faults of rule files to recorder and
    /// observers.
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async

    /// Returns when all observers have handled the previous records and rules.
    func settle() async

    /// Returns the power that the plug measured in the last six hours, with times on the controller's clock. Empty
    /// without a history, and if the history cannot be read.
    func past(of plug: PlugID) async -> [RecordedPower]

    /// Ends the recording after the rules have ended and stored their state.
    func end() async
}

extension PlugAccess {
    func note(_ record: RunnerRecord) async {}
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {}
    func settle() async {}
    func past(of plug: PlugID) async -> [RecordedPower] { [] }
    func end() async {}
}

extension HouseFollower: PlugAccess {
    func acknowledge(_ sequence: SequenceNumber, of name: String) async {
        await plug(named: name)?.acknowledge(sequence)
    }
}
