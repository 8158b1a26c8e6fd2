public import Automation
public import PlugClient
public import PlugModel

/// An observer of the house, next to rules and history. Its functions are awaited, so a slow observer delays the
/// processing of all reports.
public protocol HouseObserver: Sendable {
    /// The last event of each plug that the observer had received when it began. The observer receives only later
    /// events. If the value is nil, the observer receives all reports unfiltered.
    nonisolated var cursors: [PlugID: SequenceNumber]? { get }

    /// Handles an update. Updates are in order for each plug. Events from before the start of the process may be
    /// repeated with the same number.
    func take(_ update: HouseFollower.Update) async

    /// Handles a record of the rules.
    func note(_ record: RunnerRecord) async

    /// Handles the current rules, the names of those that the user turned off, and the faults of rule files. Called at
    /// the start and on each change.
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async
}

extension HouseObserver {
    public nonisolated var cursors: [PlugID: SequenceNumber]? { nil }
}
