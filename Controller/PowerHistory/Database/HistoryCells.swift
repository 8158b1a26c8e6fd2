/// The formats of the database's cells, for those who check what reads them: cells are given and taken without the checksum
/// at their end.
package enum HistoryCells {
    /// What a cell of roll-ups says, written anew; nil where it is damaged.
    package static func rollUps(_ step: RollUpStep, _ payload: [UInt8]) -> [UInt8]? {
        guard let block = try? RollUpBlock(step, decoding: sealed(payload)) else { return nil }
        return block.bytes.dropLast(4)
    }

    /// What a cell of an event says, written anew; nil where it is damaged.
    package static func event(_ payload: [UInt8]) -> [UInt8]? {
        guard let content = try? StoredEvent.Content(decoding: sealed(payload)) else { return nil }
        return content.bytes.dropLast(4)
    }

    /// An event's cell.
    package static func payload(of content: StoredEvent.Content) -> [UInt8] { content.bytes.dropLast(4) }

    private static func sealed(_ payload: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(payload)
        writer.seal()
        return writer.bytes
    }
}
