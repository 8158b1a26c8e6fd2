import GRDB
import PlugModel

extension BatchTransaction {
    mutating func store(_ event: StoredEvent) throws {
        let plug = try row(of: event.plug)
        let cursor = try database.integer("SELECT cursor FROM plug WHERE id = ?", .integer(plug))
            .map { SequenceNumber(bitPattern: $0) }
        let (sequence, next) = event.position(after: cursor)
        try database.change(
            """
            INSERT INTO event (plug, sequence, bytes, at, known) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, .integer(plug), .integer(Int64(bitPattern: sequence)), .bytes(event.content.bytes),
            .integer(event.at), .integer(event.isTimeKnown ? 1 : 0))
        guard next != cursor else { return }
        try database.change(
            "UPDATE plug SET cursor = ? WHERE id = ?", .integer(Int64(bitPattern: next)), .integer(plug))
    }
}

extension StoredEvent {
    /// The sequence number of the event, and the plug's cursor after the event is stored.
    fileprivate func position(after cursor: SequenceNumber?) -> (own: SequenceNumber, next: SequenceNumber) {
        switch content {
        case .event(let event): (event.sequence, max(cursor ?? 0, event.sequence))
        // The reason `unknownCursor` means that the plug started a new journal, whose numbers may be smaller.
        case .gap(let gap): (gap.from, gap.reason == .unknownCursor ? gap.to : max(cursor ?? 0, gap.to))
        }
    }
}
