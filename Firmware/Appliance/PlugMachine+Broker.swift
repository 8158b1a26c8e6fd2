public import PlugModel
public import PlugProtocol

/// What the plug's MQTT broker is told of the journal.
extension PlugMachine {
    /// The event after which the broker is told everything. A plug that had none before tells what happens from now on; where it remembers
    /// nothing, it tells that. Asked before ``Event/started``, so that the restart is told, too.
    public var beginningForBroker: SequenceNumber {
        let next = server.journal.nextSequence
        if let brokerCursor, brokerCursor < next { return brokerCursor }
        return server.journal.count == 0 ? 0 : next - 1
    }

    mutating func brokerTook(_ sequence: SequenceNumber, _ step: inout Step) {
        brokerCursor = sequence
        step.records.append(.brokerTook(sequence))
    }

    /// See ``PlugProtocol/EventJournal/page(after:limit:)``.
    public func journalPage(after cursor: SequenceNumber, limit: Int) -> JournalPage {
        server.journal.page(after: cursor, limit: limit)
    }
}
