public import PlugClient
public import PlugModel
public import RuleModel

/// An observer of the house, next to rules and history. Its functions are called one at a time, from a queue of at most
/// 16,384 items. A slow observer delays only itself. If its queue was full, it receives the number of refused items as a
/// record with the notice `recordsLeftOut`.
public protocol HouseObserver: Sendable {
    /// The last event of each plug that the observer had received when it began. The observer receives only later
    /// events. If the value is nil, the observer receives all reports unfiltered.
    nonisolated var cursors: [PlugID: SequenceNumber]? { get }

    /// Handles an update. Updates are in order for each plug. Events from before the start of the process may be
    /// repeated with the same number.
    func handle(_ update: HouseFollower.Update) async

    /// Handles a record of the rules.
    func note(_ record: RunnerRecord) async

    /// Handles the current rules, the names of those that the user turned off, and the faults of rule files. Called at
    /// the start and on each change.
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async
}

extension HouseObserver {
    public nonisolated var cursors: [PlugID: SequenceNumber]? { nil }
}
