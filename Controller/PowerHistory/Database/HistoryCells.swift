/// The formats of database cells, for tests of the decoders. All cells are without the checksum at their end.
package enum HistoryCells {
    /// Decodes a cell of roll-ups and encodes it again; nil if the cell is damaged.
    package static func rollUps(_ step: RollUpStep, _ payload: [UInt8]) -> [UInt8]? {
        guard let block = try? RollUpBlock(step, decoding: sealed(payload)) else { return nil }
        return block.bytes.dropLast(4)
    }

    /// Decodes the cell of an event and encodes it again; nil if the cell is damaged.
    package static func event(_ payload: [UInt8]) -> [UInt8]? {
        guard let content = try? StoredEvent.Content(decoding: sealed(payload)) else { return nil }
        return content.bytes.dropLast(4)
    }

    /// Encodes the cell of an event.
    package static func payload(of content: StoredEvent.Content) -> [UInt8] { content.bytes.dropLast(4) }

    private static func sealed(_ payload: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(payload)
        writer.seal()
        return writer.bytes
    }
}
