public import PlugModel
public import PlugProtocol

/// Access to the journal for the plug's MQTT broker connection.
extension PlugMachine {
    /// The number of the last event that the broker does not need. Without a valid broker cursor, this is the number
    /// before the next event, or 0 if the journal is empty. Read this before ``Event/started`` so that the broker also
    /// receives the restart event.
    public var beginningForBroker: SequenceNumber {
        let next = server.journal.nextSequence
        if let brokerCursor, brokerCursor < next { return brokerCursor }
        return server.journal.count == 0 ? 0 : next - 1
    }

    mutating func brokerTook(_ sequence: SequenceNumber, _ step: inout Step) {
        brokerCursor = sequence
        step.records.append(.brokerTook(sequence))
    }

    /// Returns a page of the journal; see ``PlugProtocol/EventJournal/page(after:limit:)``.
    public func journalPage(after cursor: SequenceNumber, limit: Int) -> JournalPage {
        server.journal.page(after: cursor, limit: limit)
    }
}
