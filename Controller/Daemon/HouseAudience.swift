public import Automation
public import PlugClient
public import PlugModel

/// Hears all of the house as it happens, beside rules and history. Whoever takes long holds the house up.
public protocol HouseAudience: Sendable {
    /// The last event of each plug that this one has had, when it began: it hears later ones alone. Nil: it hears all that comes.
    nonisolated var cursors: [PlugID: SequenceNumber]? { get }

    /// In order for each plug. What happened before the process began may come again, with its number.
    func take(_ update: HouseFollower.Update) async

    /// What the rules tell.
    func note(_ record: RunnerRecord) async

    /// The rules from now on, those of them that a person turned off, and what is wrong with their files: at the start, and
    /// whenever the rules or the faults are others.
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async
}

extension HouseAudience {
    public nonisolated var cursors: [PlugID: SequenceNumber]? { nil }
}
