import MatterSessions
import MatterWire
import ProtocolCore

/// The state that several clusters share. State that only one cluster needs is in that cluster.
struct NodeState: Sendable {
    let configuration: MatterDevice.Configuration
    let model: DataModel
    var records: MatterRecords
    var failSafe = FailSafe()
    var window = CommissioningWindow()
    var randomness: MatterRandomness
    /// The plug's values, or nil before the first ones.
    var values: PlugValues?
    var sceneStatus = SceneStatus()
    var level = LevelState()
    /// The times until which endpoints identify themselves.
    var identification: [UInt16: Instant] = [:]
    /// The attribute Breadcrumb, which a commissioner uses to note its progress.
    var breadcrumb: UInt64 = 0
    /// The secrets of CASE sessions that can be resumed, oldest first. They are in memory only.
    var resumptions: [ResumptionRecord] = []
    /// The addresses of the network interface.
    var addresses: [[UInt8]] = []
    var journal: EventJournal
    var changeLog: ChangeLog
    var effects = EffectQueue()

    init(_ configuration: MatterDevice.Configuration, records: MatterRecords, seed: [UInt8]) {
        self.configuration = configuration
        self.records = records
        model = DataModel(configuration.features)
        randomness = MatterRandomness(seed: seed)
        changeLog = ChangeLog(model, randomness: &randomness)
        journal = EventJournal(limit: records.counters.eventLimit)
    }

    /// Records the change of an attribute.
    mutating func changed(
        _ attribute: some RawRepresentable<UInt32>, of cluster: ClusterID, on endpoint: UInt16 = DataModel.root
    ) {
        changeLog.record(ConcretePath(endpoint, cluster.rawValue, attribute.rawValue))
    }

    /// Records an event. Its priority is in the table.
    mutating func record(
        _ event: some RawRepresentable<UInt32>, of cluster: ClusterID, on endpoint: UInt16 = DataModel.root,
        _ value: TLVValue, fabric: UInt8? = nil, pathLimit: Int? = nil, now: Instant
    ) {
        let path = ConcretePath(endpoint, cluster.rawValue, event.rawValue)
        let definition = model[endpoint]?.definitions[cluster.rawValue]?.event(event.rawValue)
        journal.record(
            path, priority: definition?.priority ?? EventPriority.info.rawValue, value, fabric: fabric,
            pathLimit: pathLimit, now: now)
        reserveEventNumbers()
    }

    /// Stores a new limit of event numbers if too few are reserved.
    mutating func reserveEventNumbers() {
        guard let limit = journal.reserveNumbers() else { return }
        records.counters.eventLimit = limit
        effects.store()
    }

    /// Asks the plug to perform a command on behalf of a call.
    mutating func ask(
        _ command: NodeCommand, for call: Call, then reply: CommandReply = .status(.success)
    ) throws(InteractionStatus) -> CommandReply {
        try effects.ask(command, from: call.origin, then: reply)
    }

    /// Asks the plug to perform a command without a caller that waits for the answer.
    mutating func ask(_ command: NodeCommand, from origin: String? = nil) {
        // If too many commands wait, the plug does not answer, and one more has no effect.
        _ = try? effects.ask(command, from: origin)
    }

    /// The fabric of a call. Throws `unsupportedAccess` for a call without a fabric.
    func fabric(of call: Call) throws(InteractionStatus) -> Fabric {
        guard let fabric = records.fabric(try call.requiredFabric()) else {
            throw InteractionStatus(.unsupportedAccess)
        }
        return fabric
    }

    /// Changes the fabric of a call and stores it. Throws `unsupportedAccess` for a call without a fabric.
    mutating func update<Result>(
        _ call: Call, _ body: (inout Fabric) throws(InteractionStatus) -> Result
    ) throws(InteractionStatus) -> Result {
        guard let result = try records.update(try call.requiredFabric(), body) else {
            throw InteractionStatus(.unsupportedAccess)
        }
        effects.store()
        return result
    }
}
