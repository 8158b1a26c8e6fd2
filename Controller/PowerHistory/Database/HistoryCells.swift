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

    /// Returns the number of records in a page of a database. A shorter page is filled with zeros.
    ///
    /// - Parameters:
    ///   - hasRows: true for pages of tables with row numbers, false for the other pages.
    ///   - columns: the types of the columns, as in `PageRecords`.
    package static func records(inPage page: [UInt8], hasRows: Bool, columns: String) -> Int {
        let rest = [UInt8](repeating: 0, count: max(0, Schema.pageSize - page.count))
        return PageRecords(kind: hasRows ? .rows : .keys, columns: columns, count: columns.count)
            .records(in: page.prefix(Schema.pageSize) + rest).count
    }

    private static func sealed(_ payload: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(payload)
        writer.seal()
        return writer.bytes
    }
}
