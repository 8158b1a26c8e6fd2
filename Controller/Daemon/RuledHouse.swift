import AsyncAlgorithms
import Automation
import PlugClient
import PlugModel

/// The house as running rules see it: what is heard of its plugs, and a way to command them.
protocol RuledHouse: Sendable {
    /// In order for each plug; ends after ``run()`` was cancelled.
    var updates: AsyncChannel<HouseFollower.Update> { get }

    /// Follows the house until the task is cancelled.
    func run() async

    /// - Throws: ``Refusal`` when the plug refused or is away.
    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?)

    /// The plugs that are paired, by what they were called last; nil where nobody can say now.
    func pairedPlugs() async -> [PlugID: String]?

    /// Tries to reach a plug that is away at once: something about it is new.
    func locate(_ plug: String) async

    /// Every event of the plug up to this one has taken effect.
    func acknowledge(_ sequence: SequenceNumber, of plug: String) async

    /// What the rules tell, for whoever keeps it.
    func note(_ record: RunnerRecord) async

    /// The rules from now on, those of them that are turned off, and what is wrong with their files.
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async

    /// What the plug measured in the hours before, on the controller's clock, as far as somebody kept it.
    func past(of plug: PlugID) async -> [RecordedPower]

    /// The rules have ended, and everything of theirs is stored.
    func end() async
}

extension RuledHouse {
    func locate(_ plug: String) async {}
    func note(_ record: RunnerRecord) async {}
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {}
    func past(of plug: PlugID) async -> [RecordedPower] { [] }
    func end() async {}
}

extension HouseFollower: RuledHouse {
    func locate(_ name: String) async { await plug(named: name)?.locate() }

    func acknowledge(_ sequence: SequenceNumber, of name: String) async {
        await plug(named: name)?.acknowledge(sequence)
    }
}
